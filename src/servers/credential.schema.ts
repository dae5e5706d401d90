/** How the registry names a secret: where it is kept, never what it is. */

import { z } from 'zod';

const credentialExpected = 'expected {env: NAME} or {file: path}, a reference and never the secret itself';

export const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const credentialSchema = z.union(
  [z.strictObject({ env: z.string().regex(variableName) }), z.strictObject({ file: z.string().min(1) })],
  { error: credentialExpected },
);

export type CredentialRef = z.output<typeof credentialSchema>;
