/** The projection's atomic steps. Field values are JSON text that Lua never reads, except sequence, status and startedAt. */

import { Script } from '../store/script.js';

const helpers = `
local function write(first)
  if #ARGV >= first then redis.call('HSET', KEYS[1], unpack(ARGV, first)) end
end
local function live_for(key, ms)
  if redis.call('PTTL', key) < tonumber(ms) then redis.call('PEXPIRE', key, ms) end
end
local function add_from(first, member, ms)
  for i = first, #KEYS do
    redis.call('ZADD', KEYS[i], 0, member)
    live_for(KEYS[i], ms)
  end
end
`;

/**
 * KEYS record, open records, indexes…. ARGV name among the open ones, life in ms, prefix of the records' keys, member, fields….
 *
 * Every new entry looks at three old ones and drops those whose record is gone: an index then holds half as many gone ones as live ones
 * on average, however many there ever were.
 */
export const createScript = new Script(`${helpers}
local name, life, records, member = unpack(ARGV, 1, 4)
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
for i = 3, #KEYS do
  for _, old in ipairs(redis.call('ZRANDMEMBER', KEYS[i], 3)) do
    local id = string.match(old, '^%d+:(.*)$')
    if not id or redis.call('EXISTS', records..id) == 0 then redis.call('ZREM', KEYS[i], old) end
  end
end
write(5)
redis.call('PEXPIRE', KEYS[1], life)
redis.call('ZADD', KEYS[2], redis.call('HGET', KEYS[1], 'startedAt'), name)
add_from(3, member, life)
return 1
`);

/** What every step of an open or closed record means for its life and for the index of the open ones. */
const settle = `
local function settle(name, life, retention)
  if retention ~= '' then
    redis.call('PEXPIRE', KEYS[1], retention)
    redis.call('ZREM', KEYS[2], name)
  else
    redis.call('PEXPIRE', KEYS[1], life)
    redis.call('ZADD', KEYS[2], redis.call('HGET', KEYS[1], 'startedAt'), name)
  end
end
`;

/**
 * KEYS record, open records, indexes… (only when the fields make a whole record). ARGV channel, sequence, name among the open ones, life
 * in ms, retention in ms ('' while open), member, fields…. An older sequence changes nothing; a lost record is only rebuilt from a whole one.
 */
export const applyScript = new Script(`${helpers}${settle}
local channel, sequence, name, life, retention, member = unpack(ARGV, 1, 6)
local stored = redis.call('HGET', KEYS[1], 'sequence')
if not stored and #KEYS == 2 then return 0 end
if stored and tonumber(stored) >= tonumber(sequence) then return 0 end
write(7)
redis.call('HSET', KEYS[1], 'sequence', sequence)
if not stored then add_from(3, member, life) end
settle(name, life, retention)
redis.call('PUBLISH', channel, sequence)
return 1
`);

/**
 * KEYS record, open records. ARGV channel, sequence, name among the open ones, life in ms, retention in ms, fields…. Closes what no
 * workflow will close any more. It takes no number of its own: whatever a workflow publishes still counts.
 */
export const closeUnattendedScript = new Script(`${helpers}${settle}
local channel, sequence, name, life, retention = unpack(ARGV, 1, 5)
local stored = redis.call('HMGET', KEYS[1], 'sequence', 'status')
if stored[1] ~= sequence or stored[2] == '"closed"' then return 0 end
write(6)
settle(name, life, retention)
redis.call('PUBLISH', channel, sequence)
return 1
`);

/** KEYS record or consent, open index. ARGV name in it. Drops a name that stands for nothing open. */
export const pruneScript = new Script(`
local status = redis.call('HGET', KEYS[1], 'status')
local is_over = { ['"closed"'] = true, ['"answered"'] = true, ['"expired"'] = true, ['"withdrawn"'] = true }
if status and not is_over[status] then return 0 end
return redis.call('ZREM', KEYS[2], ARGV[1])
`);

/**
 * KEYS consent, open index of the person, open consents. ARGV name among the open ones, member, life in ms, opened at, fields…. A consent
 * that is known already, open or closed, stays as it is.
 */
export const openConsentScript = new Script(`${helpers}
local name, member, life, opened_at = unpack(ARGV, 1, 4)
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
write(5)
redis.call('PEXPIRE', KEYS[1], life)
redis.call('ZADD', KEYS[2], 0, member)
live_for(KEYS[2], life)
redis.call('ZADD', KEYS[3], opened_at, name)
return 1
`);

/** KEYS consent, open index of the person, open consents. ARGV name among the open ones, member, status, closed at, retention in ms. The first close stands. */
export const closeConsentScript = new Script(`
local name, member, status, closed_at, retention = unpack(ARGV)
redis.call('ZREM', KEYS[2], member)
redis.call('ZREM', KEYS[3], name)
if redis.call('HGET', KEYS[1], 'status') ~= '"open"' then return 0 end
redis.call('HSET', KEYS[1], 'status', status, 'closedAt', closed_at)
redis.call('PEXPIRE', KEYS[1], retention)
return 1
`);

/** KEYS consent. ARGV when, in epoch ms. The first answer's time stands. */
export const noteAnswerScript = new Script(`
if redis.call('HGET', KEYS[1], 'status') ~= '"open"' then return 0 end
return redis.call('HSETNX', KEYS[1], 'answeredAt', ARGV[1])
`);
