/**
 * The payload codec (design §7): every payload and failure in Temporal is AES-256-GCM under the codec key ring. The scope, namespace
 * and workflow id, is part of the authenticated data and travels in the metadata, because the codec server is told no workflow id.
 */

import type { Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import proto from '@temporalio/proto';
import { decrypt, encrypt } from './aead.js';
import type { KeyRing } from './key-ring.js';

// CommonJS without statically visible names: ESM gets the default export only.
const PayloadMessage = proto.temporal.api.common.v1.Payload;

export type CodecFaultCode = 'payload_moved' | 'payload_altered';

/** A payload is not what, or not where, it was written. */
export class CodecFault extends Error {
  constructor(readonly code: CodecFaultCode) {
    super(
      code === 'payload_moved'
        ? 'the payload was written for another workflow'
        : 'the payload was altered, or its key id or scope was',
    );
    this.name = 'CodecFault';
  }
}

const encryptedEncoding = 'binary/encrypted';
const kidEntry = 'encryption-key-id';
const scopeEntry = 'encryption-scope';

export class KeyRingCodec implements PayloadCodec {
  constructor(private readonly ring: KeyRing) {}

  /** @param context what Temporal says the payload belongs to; without one the payload opens anywhere, as the codec server needs it */
  async encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    const { kid, key } = this.ring.current;
    const scope = scopeOf(context) ?? '';
    return payloads.map((payload) => ({
      metadata: { encoding: utf8(encryptedEncoding), [kidEntry]: utf8(kid), [scopeEntry]: utf8(scope) },
      data: encrypt(key, PayloadMessage.encode(payload).finish(), associatedData(kid, scope)),
    }));
  }

  /**
   * Payloads that Temporal's server makes itself are plain and pass through.
   *
   * @throws {CodecFault} `payload_moved`, `payload_altered`
   * @throws {KeyRingFault} `key_unknown`
   */
  async decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return payloads.map((payload) => this.decodeOne(payload, scopeOf(context)));
  }

  private decodeOne(payload: Payload, wanted: string | undefined): Payload {
    if (entry(payload, 'encoding') !== encryptedEncoding) return payload;
    const kid = entry(payload, kidEntry);
    const scope = entry(payload, scopeEntry);
    if (scope !== '' && wanted !== undefined && scope !== wanted) throw new CodecFault('payload_moved');
    const plain = decrypt(this.ring.get(kid), payload.data ?? new Uint8Array(), associatedData(kid, scope));
    if (plain === undefined) throw new CodecFault('payload_altered');
    return PayloadMessage.decode(plain);
  }
}

function scopeOf(context: SerializationContext | undefined): string | undefined {
  return context?.workflowId === undefined ? undefined : `${context.namespace}/${context.workflowId}`;
}

function associatedData(kid: string, scope: string): Uint8Array {
  return utf8(JSON.stringify(['p1', kid, scope]));
}

function entry(payload: Payload, name: string): string {
  return Buffer.from(payload.metadata?.[name] ?? []).toString('utf8');
}

function utf8(text: string): Uint8Array {
  return Buffer.from(text, 'utf8');
}
