/** `npm run docs:codes`: writes docs/codes.md, which nobody edits by hand. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codesPage } from './codes-page.js';
import { root } from './root.js';

await writeFile(join(root, 'docs', 'codes.md'), codesPage());
