/** From a list's query to the store's wish, and back to a page. */

import { Problem } from '../problems/problem.js';
import { CursorFault, type PageWish } from '../records/cursor.js';
import type { PageQuery } from './page.contract.js';

export function wishOf({ cursor, limit }: PageQuery): PageWish {
  return { limit, ...(cursor !== undefined && { cursor }) };
}

/** @throws {Problem} `cursor_invalid` */
export async function pageFrom<P>(reading: Promise<P>): Promise<P> {
  try {
    return await reading;
  } catch (error) {
    throw error instanceof CursorFault ? new Problem('cursor_invalid') : error;
  }
}
