import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { ApplicationFailure, defaultPayloadConverter } from '@temporalio/common';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { describe, expect, it } from 'vitest';
import { KeyRingCodec } from './codec.js';
import { dataConverterFor, failureConverterPath } from './data-converter.js';
import { failureConverter } from './failure-converter.js';
import { KeyRing } from './key-ring.js';

const codec = new KeyRingCodec(KeyRing.parse(`k1:${randomBytes(32).toString('base64')}`));

describe('dataConverterFor', () => {
  it('names a converter that Temporal can load from the build', () => {
    expect(existsSync(failureConverterPath), 'npm run build comes before the tests').toBe(true);
    const loaded = loadDataConverter(dataConverterFor(codec));
    expect(loaded.failureConverter).toMatchObject({ options: { encodeCommonAttributes: true } });
    expect(loaded.payloadCodecs).toEqual([codec]);
  });
});

describe('failureConverter', () => {
  it('puts message and stack of a failure and of its causes where the codec encrypts them', () => {
    const cause = new Error('canary of the cause');
    const failure = ApplicationFailure.create({ message: 'canary', type: 'Kind', cause });
    const wire = failureConverter.errorToFailure(failure, defaultPayloadConverter);
    for (const each of [wire, wire.cause!]) {
      expect(each).toMatchObject({ message: 'Encoded failure', stackTrace: '' });
      expect(each.encodedAttributes?.data).toBeDefined();
    }
    expect(failureConverter.failureToError(wire, defaultPayloadConverter)).toMatchObject({ message: 'canary' });
  });
});
