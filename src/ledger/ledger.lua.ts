/**
 * The ledger's atomic steps. One hash per invocation; leg n owns the fields `n.state`, `n.try`, `n.token`, `n.begunAt`, `n.is` and
 * `n.report`, an answer that was used owns `answer:<id>`. Reports are text to Lua, so that no number is rounded on the way.
 */

import { Script } from '../store/script.js';

/**
 * A leg may be begun again only when it is proven that the earlier try never reached the server. One that the server refused before it did
 * anything may be followed by a leg with the same answer.
 */
const helpers = `
local function row(key, leg)
  return redis.call('HMGET', key, leg..'.state', leg..'.try', leg..'.token', leg..'.begunAt', leg..'.report', leg..'.is')
end
local function never_ran(r)
  return r[1] == 'revoked' or (r[1] == 'done' and r[6] == 'never_sent')
end
local function did_nothing(r)
  return r[1] == 'done' and (r[6] == 'turned_away' or r[6] == 'state_expired')
end
local function now_ms()
  local t = redis.call('TIME')
  return string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000))
end
local function live_for(key, ms)
  if redis.call('PTTL', key) < tonumber(ms) then redis.call('PEXPIRE', key, ms) end
end
`;

/**
 * KEYS epoch, ledger. ARGV leg, previous leg ('' for the first), try, token, epoch, answer id ('' for none), ttl.
 * The epoch comes first: in a wiped store every other answer would be a lie.
 */
export const beginScript = new Script(`${helpers}
local leg, previous, try, token, epoch, answer, ttl = unpack(ARGV)
if redis.call('GET', KEYS[1]) ~= epoch then return {'epoch_lost'} end
if previous ~= '' then
  local before = row(KEYS[2], previous)
  if not (before[1] == 'done' and before[6] == 'asked') and not did_nothing(before) then return {'previous_leg_missing'} end
end
local found = row(KEYS[2], leg)
if found[1] and not (tonumber(found[2]) < tonumber(try) and never_ran(found)) then
  return {'taken', found[1], found[2], found[3], found[4], found[5]}
end
if answer ~= '' then
  local used = redis.call('HGET', KEYS[2], 'answer:'..answer)
  if used and used ~= leg and not did_nothing(row(KEYS[2], used)) then return {'answer_used'} end
  redis.call('HSET', KEYS[2], 'answer:'..answer, leg)
end
redis.call('HDEL', KEYS[2], leg..'.report', leg..'.is')
redis.call('HSET', KEYS[2], leg..'.state', 'begun', leg..'.try', try, leg..'.token', token, leg..'.begunAt', now_ms())
live_for(KEYS[2], ttl)
return {'begun'}
`);

/** KEYS ledger, blob. ARGV leg, try, token, outcome kind, report, blob ('' for none). A repeat of the same finish is no fault. */
export const finishScript = new Script(`${helpers}
local leg, try, token, kind, report, blob = unpack(ARGV)
local found = row(KEYS[1], leg)
if found[2] ~= try or found[3] ~= token then return 'not_begun' end
if found[1] == 'done' and found[5] == report then return 'done' end
if found[1] ~= 'begun' then return 'not_begun' end
if blob ~= '' then redis.call('SET', KEYS[2], blob, 'PX', redis.call('PTTL', KEYS[1])) end
redis.call('HSET', KEYS[1], leg..'.state', 'done', leg..'.is', kind, leg..'.report', report)
return 'done'
`);

/**
 * KEYS epoch, ledger. ARGV leg, try, epoch, ttl. Closes the door on a try that was never begun: a late activity loses its begin. A row
 * of an earlier try that never ran is no statement about this try, so it is revoked as well. In another epoch an absent row says nothing.
 */
export const resolveScript = new Script(`${helpers}
local leg, try, epoch, ttl = unpack(ARGV)
if redis.call('GET', KEYS[1]) ~= epoch then return {'epoch_lost'} end
local found = row(KEYS[2], leg)
if not found[1] or (tonumber(found[2]) < tonumber(try) and never_ran(found)) then
  redis.call('HDEL', KEYS[2], leg..'.report', leg..'.is')
  redis.call('HSET', KEYS[2], leg..'.state', 'revoked', leg..'.try', try, leg..'.token', '', leg..'.begunAt', now_ms())
  live_for(KEYS[2], ttl)
  found = row(KEYS[2], leg)
end
return {found[1], found[2], found[3], found[4], found[5]}
`);

/** KEYS claim. ARGV owner, ttl. */
export const claimStateScript = new Script(`${helpers}
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
if not owner then redis.call('SET', KEYS[1], ARGV[1]) end
live_for(KEYS[1], ARGV[2])
return 1
`);
