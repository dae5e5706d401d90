import { expect, it } from 'vitest';
import { Leg } from './leg.js';

const answer = (id: unknown) => ({ jsonrpc: '2.0', id, result: {} });

it('lets a leg be posted once', () => {
  const leg = new Leg('inv_1.1');
  leg.takePost();
  expect(() => leg.takePost()).toThrow('posted already');
});

it('lets nothing be posted once a leg has ended, so that "never sent" stays true', () => {
  const leg = new Leg('inv_1.1');
  leg.end({ is: 'broken', reason: 'deadline' });
  expect(() => leg.takePost()).toThrow('over');
  expect(leg.wasPosted).toBe(false);
});

it('ends as it ended first', async () => {
  const leg = new Leg('inv_1.1');
  leg.receive(answer('inv_1.1'));
  leg.end({ is: 'broken', reason: 'stream_ended' });
  expect(await leg.ended).toEqual({ is: 'result', result: {} });
});

it.each([0, '0', null, 'inv_1.2', undefined])('takes no response under the id %j', async (id) => {
  const leg = new Leg('inv_1.1');
  leg.receive(answer(id));
  expect(await leg.ended).toEqual({ is: 'broken', reason: 'response_id_mismatch' });
});
