import { describe, expect, it } from 'vitest';
import { LedgerFault } from '../src/ledger/ledger.js';
import { StoreFault } from '../src/store/redis.js';
import { untilStored } from './until-stored.js';

describe('untilStored', () => {
  it('writes again until the store takes it', async () => {
    let writes = 0;
    await untilStored(async () => {
      writes += 1;
      if (writes < 3) throw new StoreFault('no_reply', 'away');
    });
    expect(writes).toBe(3);
  });

  it('gives up at once on a leg that is not its own any more (not_begun)', async () => {
    let writes = 0;
    const writing = untilStored(async () => {
      writes += 1;
      throw new LedgerFault('not_begun');
    });
    await expect(writing).rejects.toMatchObject({ code: 'not_begun' });
    expect(writes).toBe(1);
  });
});
