/** A worker carries no more legs at once than it is told to; further ones wait for a place, and none is lost. */

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { outcome, start } from './harness/conversation.js';
import { until } from './harness/parley.js';
import { done, scriptedServer, tool, type Reply } from './harness/scripted-server.js';
import { undoAfterEach } from './harness/undo.js';

const undo = undoAfterEach();
const maxLegs = 2;
const calls = 5;
/** In which a leg that need not wait would have long been sent. */
const moreMs = 2_000;

describe('PARLEY_MAX_LEGS', () => {
  it('is how many legs of a worker are on the wire at once', async () => {
    const onTheWire: Reply[] = [];
    const server = await scriptedServer([tool('slow')], (_, reply) => void onTheWire.push(reply));
    undo.push(() => server.close());
    const parley = await undo.parleyOf({
      servers: [{ id: 'scripted', url: server.url }],
      env: { PARLEY_MAX_LEGS: String(maxLegs) },
    });
    const ids = await Promise.all(Array.from({ length: calls }, () => start(parley, { server: 'scripted', tool: 'slow' })));

    await until(() => onTheWire.length >= maxLegs, 30_000, 'as many legs as may be');
    await sleep(moreMs);
    for (let answered = 0; answered < calls; answered += 1) {
      expect(onTheWire).toHaveLength(Math.min(maxLegs, calls - answered));
      onTheWire.shift()?.result(done);
      const left = Math.min(maxLegs, calls - answered - 1);
      await until(() => onTheWire.length >= left, 30_000, 'the next leg');
    }
    for (const id of ids) expect(await outcome(parley, id)).toMatchObject({ outcome: 'completed', leg: 1 });
    expect(server.calls).toHaveLength(calls);
  }, 120_000);
});
