/** The projection's atomic steps. Field values are JSON text that Lua never reads, except sequence and status. */

import { Script } from '../store/script.js';

const helpers = `
local function write(first)
  if #ARGV >= first then redis.call('HSET', KEYS[1], unpack(ARGV, first)) end
end
`;

/** KEYS record, indexes…. ARGV member, fields…. */
export const createScript = new Script(`${helpers}
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
write(2)
for i = 2, #KEYS do redis.call('ZADD', KEYS[i], 0, ARGV[1]) end
return 1
`);

/**
 * KEYS record, indexes… (only when the fields make a whole record). ARGV channel, sequence, retention in ms ('' while open), member,
 * fields…. An older sequence changes nothing; a lost record is only rebuilt from a whole one.
 */
export const applyScript = new Script(`${helpers}
local channel, sequence, retention, member = unpack(ARGV, 1, 4)
local stored = redis.call('HGET', KEYS[1], 'sequence')
if not stored and #KEYS == 1 then return 0 end
if stored and tonumber(stored) >= tonumber(sequence) then return 0 end
write(5)
redis.call('HSET', KEYS[1], 'sequence', sequence)
if not stored then
  for i = 2, #KEYS do redis.call('ZADD', KEYS[i], 0, member) end
end
if retention ~= '' then redis.call('PEXPIRE', KEYS[1], retention) end
redis.call('PUBLISH', channel, sequence)
return 1
`);

/** KEYS consent, open index. ARGV member, expiry in epoch ms, fields…. A consent that is known already, open or closed, stays as it is. */
export const openConsentScript = new Script(`${helpers}
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
write(3)
redis.call('PEXPIREAT', KEYS[1], ARGV[2])
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return 1
`);

/** KEYS consent, open index. ARGV member, status, closed at, retention in ms. The first close stands. */
export const closeConsentScript = new Script(`
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('HGET', KEYS[1], 'status') ~= '"open"' then return 0 end
redis.call('HSET', KEYS[1], 'status', ARGV[2], 'closedAt', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
`);
