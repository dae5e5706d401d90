/** The codec of the recordings: its key encrypts nothing else. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataConverter } from '@temporalio/common';
import { KeyRingCodec } from '../../src/crypto/codec.js';
import { dataConverterFor } from '../../src/crypto/data-converter.js';
import { KeyRing } from '../../src/crypto/key-ring.js';

export const codecKeysFile = join(import.meta.dirname, 'codec-keys.txt');

export async function codec(): Promise<KeyRingCodec> {
  return new KeyRingCodec(KeyRing.parse((await readFile(codecKeysFile, 'utf8')).trim()));
}

export async function dataConverter(): Promise<DataConverter> {
  return dataConverterFor(await codec());
}
