/**
 * Opens and closes the payload codec for operators, in Temporal's UI and CLI. It holds the codec ring alone: requestState, answers and
 * results stay sealed in what it opens (design §7).
 */

import { Injectable } from '@nestjs/common';
import type { Payload } from '@temporalio/common';
import { KeyRingCodec } from '../crypto/codec.js';
import type { CodecBody, JsonPayload } from './codec.contract.js';

@Injectable()
export class CodecService {
  constructor(private readonly codec: KeyRingCodec) {}

  /** A payload that cannot be opened comes back as it was: one damaged payload must not hide a whole history. */
  async decode({ payloads }: CodecBody): Promise<CodecBody> {
    return { payloads: await Promise.all(payloads.map((payload) => this.decodeOne(payload))) };
  }

  async encode({ payloads }: CodecBody): Promise<CodecBody> {
    return { payloads: (await this.codec.encode(payloads.map(payloadOf))).map(jsonOf) };
  }

  private async decodeOne(payload: JsonPayload): Promise<JsonPayload> {
    try {
      const [plain] = await this.codec.decode([payloadOf(payload)]);
      return plain === undefined ? payload : jsonOf(plain);
    } catch {
      return payload;
    }
  }
}

function payloadOf({ metadata = {}, data = '' }: JsonPayload): Payload {
  const entries = Object.entries(metadata).map(([name, text]) => [name, Buffer.from(text, 'base64')] as const);
  return { metadata: Object.fromEntries(entries), data: Buffer.from(data, 'base64') };
}

function jsonOf({ metadata, data }: Payload): JsonPayload {
  const entries = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')] as const);
  return { metadata: Object.fromEntries(entries), data: Buffer.from(data ?? []).toString('base64') };
}
