/** AES-256-GCM as Parley uses it everywhere: one buffer `iv (12) | ciphertext | tag (16)`, a fresh random iv each time. */

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ivBytes = 12;
const tagBytes = 16;

export function encrypt(key: Buffer, plain: Uint8Array, associated: Uint8Array): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(associated);
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** @returns undefined when the text, its key or its associated data is not what it was written with */
export function decrypt(key: Buffer, box: Uint8Array, associated: Uint8Array): Buffer | undefined {
  if (box.length < ivBytes + tagBytes) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, ivBytes), { authTagLength: tagBytes });
  decipher.setAAD(associated).setAuthTag(box.subarray(box.length - tagBytes));
  try {
    return Buffer.concat([decipher.update(box.subarray(ivBytes, box.length - tagBytes)), decipher.final()]);
  } catch {
    return undefined;
  }
}
