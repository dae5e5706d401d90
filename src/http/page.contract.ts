/** How every list is asked for. */
import { z } from 'zod';

const cursor = z.string().min(1).max(512).meta({ description: 'Opaque: the `next` of the page before' });

const limit = z.coerce.number().int().min(1).max(100).default(20).meta({ description: 'Items on a page' });

export const PageQuery = z.strictObject({ cursor: cursor.optional(), limit });
export type PageQuery = z.infer<typeof PageQuery>;
