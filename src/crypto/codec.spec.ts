import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter, type Payload, type SerializationContext } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { KeyRingCodec } from './codec.js';
import { KeyRing } from './key-ring.js';

const keyText = (kid: string) => `${kid}:${randomBytes(32).toString('base64')}`;
const first = keyText('k1');
const codec = new KeyRingCodec(KeyRing.parse(first));
const workflow: SerializationContext = { type: 'workflow', namespace: 'default', workflowId: 't1/inv_1' };
const activity: SerializationContext = { ...workflow, type: 'activity', activityId: '1', isLocal: false };

async function encoded(value: unknown, context?: SerializationContext): Promise<Payload> {
  const [payload] = await codec.encode([defaultPayloadConverter.toPayload(value)], context);
  return payload!;
}

async function decoded(payload: Payload, context?: SerializationContext, by = codec): Promise<unknown> {
  const [plain] = await by.decode([payload], context);
  return defaultPayloadConverter.fromPayload(plain!);
}

describe('KeyRingCodec', () => {
  it('gives back what it encoded, in order and number', async () => {
    const values = [{ a: 1 }, null, undefined, 'text', new Uint8Array([1, 2])];
    const payloads = await codec.encode(
      values.map((value) => defaultPayloadConverter.toPayload(value)),
      workflow,
    );
    const plain = await codec.decode(payloads, workflow);
    expect(plain.map((payload) => defaultPayloadConverter.fromPayload(payload))).toEqual(values);
  });

  it('leaves nothing of a payload readable, its own encoding neither', async () => {
    const payload = await encoded({ canary: 'canary' }, workflow);
    const visible = Object.values({ ...payload.metadata, data: payload.data }).map((bytes) =>
      Buffer.from(bytes!).toString('latin1'),
    );
    expect(visible.join()).not.toMatch(/canary|json/);
  });

  it('opens for the workflow and its activities', async () => {
    const payload = await encoded('x', workflow);
    expect(await decoded(payload, activity)).toBe('x');
  });

  it('opens without a context, as the codec server has none', async () => {
    expect(await decoded(await encoded('x', workflow))).toBe('x');
  });

  it.each([
    ['another workflow', { ...workflow, workflowId: 't1/inv_2' }],
    ['another namespace', { ...workflow, namespace: 'other' }],
  ])('refuses a payload that was moved to %s (payload_moved)', async (_, context) => {
    const payload = await encoded('x', workflow);
    await expect(decoded(payload, context as SerializationContext)).rejects.toThrow(
      expect.objectContaining({ code: 'payload_moved' }),
    );
  });

  it('refuses a payload whose scope was rewritten (payload_altered)', async () => {
    const payload = await encoded('x', workflow);
    const moved = { ...payload, metadata: { ...payload.metadata, 'encryption-scope': Buffer.from('default/t1/inv_2') } };
    const context = { ...workflow, workflowId: 't1/inv_2' } as SerializationContext;
    await expect(decoded(moved, context)).rejects.toThrow(expect.objectContaining({ code: 'payload_altered' }));
  });

  it('refuses altered data (payload_altered)', async () => {
    const payload = await encoded('x', workflow);
    const data = Buffer.from(payload.data!);
    data[20] = data[20]! ^ 1;
    await expect(decoded({ ...payload, data }, workflow)).rejects.toThrow(expect.objectContaining({ code: 'payload_altered' }));
  });

  it('opens what an older key of the ring encrypted, and names a key it has not (key_unknown)', async () => {
    const second = keyText('k2');
    const payload = await encoded('x', workflow);
    expect(await decoded(payload, workflow, new KeyRingCodec(KeyRing.parse(`${second},${first}`)))).toBe('x');
    const without = new KeyRingCodec(KeyRing.parse(second));
    await expect(decoded(payload, workflow, without)).rejects.toThrow(expect.objectContaining({ code: 'key_unknown' }));
  });

  it('passes payloads through that the Temporal server made', async () => {
    const plain = defaultPayloadConverter.toPayload('ACTIVITY_ID_NOT_STARTED');
    expect(await codec.decode([plain, {}], workflow)).toEqual([plain, {}]);
  });

  it('takes an empty list', async () => {
    expect(await codec.encode([], workflow)).toEqual([]);
  });
});
