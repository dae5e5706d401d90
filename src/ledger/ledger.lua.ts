/**
 * The ledger's atomic steps. One hash per invocation; leg n owns the fields `n.state`, `n.try`, `n.token`, `n.begunAt`, `n.is` and
 * `n.report`, and `n.asked` and `n.askedIn` say which question it answers; an answer that was used owns `answer:<id>`; `last` is the leg
 * that was begun last. For whoever finds the row when nothing else is left of the call, `ended` says what it was closed as, and `late`
 * which leg came back afterwards. Reports are text to Lua, so that no number is rounded on the way.
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
  return r[1] == 'revoked' or (r[1] == 'done' and (r[6] == 'never_sent' or r[6] == 'blocked'))
end
local function did_nothing(r)
  return r[1] == 'done' and (r[6] == 'turned_away' or r[6] == 'state_expired')
end
local function now_ms()
  local t = redis.call('TIME')
  return string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000))
end
-- In a wiped store every other answer would be a lie, and in one that has lost writes too: it gets another epoch, for good.
local function is_lost(epoch_key, clock_key, epoch, mark, fresh)
  if redis.call('GET', epoch_key) ~= epoch then return true end
  if tonumber(redis.call('GET', clock_key) or '0') >= tonumber(mark) then return false end
  redis.call('SET', epoch_key, fresh)
  redis.call('SET', clock_key, mark)
  return true
end
-- As callers read it: state, try, token, begun at, now, report.
local function told(r)
  return {r[1], r[2], r[3], r[4], now_ms(), r[5]}
end
local function live_for(key, ms)
  if redis.call('PTTL', key) < tonumber(ms) then redis.call('PEXPIRE', key, ms) end
end
`;

/**
 * KEYS epoch, clock, ledger, holds…. ARGV leg, previous leg ('' for the first), try, token, answer id and consent ('' for none), ttl,
 * epoch, mark, fresh epoch. Replies with the clock, which this begin has moved on; while there is a hold with its place among them.
 */
export const beginScript = new Script(`${helpers}
local leg, previous, try, token, answer, consent, ttl, epoch, mark, fresh = unpack(ARGV)
if is_lost(KEYS[1], KEYS[2], epoch, mark, fresh) then return {'epoch_lost'} end
local key = KEYS[3]
if previous ~= '' then
  local before = row(key, previous)
  if not (before[1] == 'done' and before[6] == 'asked') and not did_nothing(before) then return {'previous_leg_missing'} end
end
local found = row(key, leg)
if found[1] and not (tonumber(found[2]) < tonumber(try) and never_ran(found)) then return {'taken', unpack(told(found))} end
if consent ~= '' and consent ~= (redis.call('HGET', key, leg..'.asked') or consent) then return {'asked_again'} end
for i = 4, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then return {'held', tostring(i - 4)} end
end
if answer ~= '' then
  local used = redis.call('HGET', key, 'answer:'..answer)
  if used and used ~= leg and not did_nothing(row(key, used)) then return {'answer_used'} end
  redis.call('HSET', key, 'answer:'..answer, leg)
end
redis.call('HDEL', key, leg..'.report', leg..'.is', 'ended', 'late')
redis.call('HSET', key, 'last', leg, leg..'.state', 'begun', leg..'.try', try, leg..'.token', token, leg..'.begunAt', now_ms())
live_for(key, ttl)
return {'begun', tostring(redis.call('INCR', KEYS[2]))}
`);

/**
 * KEYS ledger. ARGV leg, consent, sequence. Replies with the try that is next, if a person may be asked for what this leg is to take along:
 * nothing when it may have been sent. From then on an answer to an earlier question is not sent any more.
 */
export const askScript = new Script(`${helpers}
local leg, consent, sequence = unpack(ARGV)
local found = row(KEYS[1], leg)
if found[1] and not never_ran(found) then return nil end
local is_newer = tonumber(redis.call('HGET', KEYS[1], leg..'.askedIn') or '0') < tonumber(sequence)
if is_newer and redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HSET', KEYS[1], leg..'.asked', consent, leg..'.askedIn', sequence)
end
return (found[2] or 0) + 1
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
-- Only here is it known which came first, the close of the call or the word of its leg.
if kind ~= 'unknown' and redis.call('HEXISTS', KEYS[1], 'ended') == 1 then redis.call('HSET', KEYS[1], 'late', leg) end
return 'done'
`);

/**
 * KEYS epoch, clock, ledger. ARGV leg, try, ttl, 'begun' if it is known to have been, epoch, mark, fresh epoch. Closes the door on a try
 * that was never begun: a late activity loses its begin. A row of an earlier try that never ran is no statement about this try, so it is
 * revoked as well.
 */
export const resolveScript = new Script(`${helpers}
local leg, try, ttl, begun, epoch, mark, fresh = unpack(ARGV)
if is_lost(KEYS[1], KEYS[2], epoch, mark, fresh) then return {'epoch_lost'} end
local key = KEYS[3]
local found = row(key, leg)
local is_new = not found[1] or (tonumber(found[2]) < tonumber(try) and never_ran(found))
-- Revoked under a later try: then the begun one was there, and was known never to have run.
if begun ~= '' and (is_new or (found[1] == 'revoked' and tonumber(found[2]) <= tonumber(try))) then
  redis.call('SET', KEYS[1], fresh)
  return {'epoch_lost'}
end
if is_new then
  redis.call('HDEL', key, leg..'.report', leg..'.is')
  redis.call('HSET', key, leg..'.state', 'revoked', leg..'.try', try, leg..'.token', '', leg..'.begunAt', now_ms())
  live_for(key, ttl)
  found = row(key, leg)
end
return told(found)
`);

/**
 * KEYS ledgers. ARGV age in ms. Replies with position, leg, state, age in ms and outcome kind of legs that nothing has accounted for: begun
 * so long ago, of a call that was not closed since; or done after their call was closed without anybody knowing how they ended.
 */
export const unaccountedScript = new Script(`${helpers}
local found, now = {}, tonumber(now_ms())
-- Of a row from before it kept the last leg. Legs are numbered without a gap, so a few looks find the last of however many.
local function last_in(key)
  local function has(leg) return redis.call('HEXISTS', key, leg..'.state') == 1 end
  local low, high = 0, 1
  while has(high) do low, high = high, 2 * high end
  while high - low > 1 do
    local middle = math.floor((low + high) / 2)
    if has(middle) then low = middle else high = middle end
  end
  return low
end
for i, key in ipairs(KEYS) do
  local ended, last, late = unpack(redis.call('HMGET', key, 'ended', 'last', 'late'))
  local leg = not ended and (last or last_in(key)) or ended == 'indeterminate' and late
  local r = leg and row(key, leg)
  local age = r and r[1] and now - tonumber(r[4])
  if age and (late or (r[1] == 'begun' and age >= tonumber(ARGV[1]))) then
    for _, value in ipairs({i, leg, r[1], age, r[6] or ''}) do table.insert(found, tostring(value)) end
  end
end
return found
`);

/** KEYS ledger. ARGV what its call has ended as, or what an operator was told of it: what came late is on record by then. */
export const endScript = new Script(`
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HDEL', KEYS[1], 'late')
return redis.call('HSET', KEYS[1], 'ended', ARGV[1])
`);

/** KEYS claims: of one state under every key of the ring, the current one first. ARGV owner, ttl. */
export const claimStateScript = new Script(`${helpers}
for i = 1, #KEYS do
  local owner = redis.call('GET', KEYS[i])
  if owner and owner ~= ARGV[1] then return 0 end
end
redis.call('SET', KEYS[1], ARGV[1], 'KEEPTTL')
live_for(KEYS[1], ARGV[2])
return 1
`);
