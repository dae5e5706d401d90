/** The projection's atomic steps. Field values are JSON text that Lua never reads, except sequence, status, consent and instants. */

import { Script } from '../store/script.js';
import { instantDigits } from './cursor.js';

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

/** What every step of an open or closed record means for its life, for the index of the open ones, and for its ledger. */
const settle = `
local function settle(name, life, retention, outcome)
  if outcome ~= '' then
    if redis.call('EXISTS', KEYS[3]) == 1 then redis.call('HSET', KEYS[3], 'ended', outcome) end
    redis.call('PEXPIRE', KEYS[1], retention)
    redis.call('ZREM', KEYS[2], name)
  else
    redis.call('PEXPIRE', KEYS[1], life)
    redis.call('ZADD', KEYS[2], redis.call('HGET', KEYS[1], 'startedAt'), name)
  end
end
`;

/** The first close of a question stands. One that is unknown stays unknown. */
const closing = `
local function close_consent(key, inbox, all, name, id, status, at, retention)
  local opened_at = redis.call('HGET', key, 'openedAt')
  if not opened_at then return end
  redis.call('ZREM', inbox, string.rep('0', ${instantDigits} - #opened_at)..opened_at..':'..id)
  redis.call('ZREM', all, name)
  if redis.call('HGET', key, 'status') ~= '"open"' then return end
  redis.call('HSET', key, 'status', status, 'closedAt', at)
  redis.call('PEXPIRE', key, retention)
end
`;

/**
 * KEYS record, open records, ledger, open consents, the subject's inbox, indexes…. ARGV channel, sequence, name among the open ones, life
 * in ms, retention in ms, outcome ('' while open), member, prefix of the consents' keys, prefix of the tenant's names; of the question that the step is
 * about, '' each if there is none: when it was opened or closed (else now), id, status, member, life in ms, how many fields; fields of the
 * question…, fields of the record….
 *
 * The call and its question change together: nobody sees the one without the other. An older sequence changes nothing. A question that is
 * known already, open or closed, is not opened again. One that the record shows and the step is not about was asked by a run that was cut
 * off (`workflow reset`): nobody can answer it any more.
 */
export const publishScript = new Script(`${helpers}${settle}${closing}
local channel, sequence, name, life, retention, outcome, member, keys, names = unpack(ARGV, 1, 9)
local at, own, status, own_member, own_life, own_fields = unpack(ARGV, 10, 15)
local first = 16 + own_fields
local all, inbox = KEYS[4], KEYS[5]
local stored = redis.call('HMGET', KEYS[1], 'sequence', 'consent')
if stored[1] and tonumber(stored[1]) >= tonumber(sequence) then return 0 end
local shown = stored[2] and string.match(stored[2], '^"(.*)"$')
if shown and shown ~= own then close_consent(keys..shown, inbox, all, names..shown, shown, '"withdrawn"', at, retention) end
if own_member ~= '' and redis.call('EXISTS', keys..own) == 0 then
  redis.call('HSET', keys..own, unpack(ARGV, 16, first - 1))
  redis.call('PEXPIRE', keys..own, own_life)
  redis.call('ZADD', inbox, 0, own_member)
  live_for(inbox, own_life)
  redis.call('ZADD', all, at, names..own)
elseif own ~= '' and own_member == '' then
  close_consent(keys..own, inbox, all, names..own, own, status, at, retention)
end
write(first)
if not stored[1] then add_from(6, member, life) end
settle(name, life, retention, outcome)
redis.call('PUBLISH', channel, sequence)
return 1
`);

/**
 * KEYS record, open records, ledger. ARGV channel, sequence, name among the open ones, life in ms, retention in ms, outcome, fields…. Closes what no
 * workflow will close any more. It takes no number of its own: whatever a workflow publishes still counts.
 */
export const closeUnattendedScript = new Script(`${helpers}${settle}
local channel, sequence, name, life, retention, outcome = unpack(ARGV, 1, 6)
local stored = redis.call('HMGET', KEYS[1], 'sequence', 'status')
if stored[1] ~= sequence or stored[2] == '"closed"' then return 0 end
write(7)
settle(name, life, retention, outcome)
redis.call('PUBLISH', channel, sequence)
return 1
`);

/** KEYS record. ARGV sequence, problem. Says more of a call that was closed as indeterminate; what it ended as stays. */
export const explainScript = new Script(`
local stored = redis.call('HMGET', KEYS[1], 'sequence', 'outcome')
if stored[1] ~= ARGV[1] or stored[2] ~= '"indeterminate"' then return 0 end
redis.call('HSET', KEYS[1], 'problem', ARGV[2])
return 1
`);

/** KEYS record or consent, open index. ARGV name in it. Drops a name that stands for nothing open. */
export const pruneScript = new Script(`
local status = redis.call('HGET', KEYS[1], 'status')
local is_over = { ['"closed"'] = true, ['"answered"'] = true, ['"expired"'] = true, ['"withdrawn"'] = true }
if status and not is_over[status] then return 0 end
return redis.call('ZREM', KEYS[2], ARGV[1])
`);

/** KEYS consent, inbox of the person, open consents. ARGV name among the open ones, id, status, closed at, retention in ms. */
export const closeConsentScript = new Script(`${closing}
local name, id, status, at, retention = unpack(ARGV)
close_consent(KEYS[1], KEYS[2], KEYS[3], name, id, status, at, retention)
`);

/** KEYS consent. ARGV when, in epoch ms. The first answer's time stands. */
export const noteAnswerScript = new Script(`
if redis.call('HGET', KEYS[1], 'status') ~= '"open"' then return 0 end
return redis.call('HSETNX', KEYS[1], 'answeredAt', ARGV[1])
`);
