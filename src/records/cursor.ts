/**
 * Newest-first pages over a sorted set whose members are `<padded instant>:<id>`, all with score 0, so that their order is by name.
 * A cursor is the last member shown: it stays right while newer entries arrive.
 */

import type { Redis } from '../store/redis.js';

export interface Page<T> {
  readonly items: readonly T[];
  /** Opaque; null at the end. */
  readonly next: string | null;
}

export interface PageWish {
  readonly cursor?: string;
  readonly limit: number;
}

/** The cursor was not made here. */
export class CursorFault extends Error {
  readonly code = 'cursor_invalid';

  constructor() {
    super('the cursor was not made by this service');
    this.name = 'CursorFault';
  }
}

/** Of an instant in a member's name. */
export const instantDigits = 15;
const memberShape = /^\d{15}:[A-Za-z0-9_]{1,64}$/;

export function memberOf(at: number, id: string): string {
  return `${String(at).padStart(instantDigits, '0')}:${id}`;
}

/** Members read per step, and steps per page: bounds the work one request can cause when most entries are filtered out. */
const stepSize = 100;
const maxSteps = 10;

/**
 * @param read gives the entry, null when its time is over (its member is then dropped), or undefined to leave it out
 * @throws {CursorFault}
 */
export async function pageOf<T>(
  redis: Redis,
  index: string,
  wish: PageWish,
  read: (id: string) => Promise<T | null | undefined>,
): Promise<Page<T>> {
  const items: T[] = [];
  let last = wish.cursor === undefined ? undefined : memberFrom(wish.cursor);
  for (let step = 0; step < maxSteps; step += 1) {
    const from = last === undefined ? '+' : `(${last}`;
    const members = await redis.zRange(index, from, '-', { BY: 'LEX', REV: true, LIMIT: { offset: 0, count: stepSize } });
    const entries = await Promise.all(members.map((member) => read(member.slice(instantDigits + 1))));
    const gone = members.filter((_, position) => entries[position] === null);
    if (gone.length > 0) await redis.zRem(index, gone);
    for (const [position, entry] of entries.entries()) {
      last = members[position];
      if (entry !== null && entry !== undefined) items.push(entry);
      if (items.length === wish.limit) return { items, next: cursorFrom(last) };
    }
    if (members.length < stepSize) return { items, next: null };
  }
  return { items, next: cursorFrom(last) };
}

function cursorFrom(member: string | undefined): string | null {
  return member === undefined ? null : Buffer.from(member, 'utf8').toString('base64url');
}

function memberFrom(cursor: string): string {
  const member = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!memberShape.test(member)) throw new CursorFault();
  return member;
}
