/**
 * The ledger's atomic steps. One hash per invocation; leg n owns the fields `n.state`, `n.try`, `n.token`, `n.begunAt`, `n.is` and
 * `n.report`, and `n.late` if its call was closed before; `n.asked` and `n.askedIn` say which question it answers; an answer that was used owns `answer:<id>`, and `ended`
 * says what the call was closed as, for whoever finds the row when nothing else is left of it. Reports are text to Lua, so that no number is rounded on the way.
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
redis.call('HDEL', key, leg..'.report', leg..'.is', leg..'.late', 'ended')
redis.call('HSET', key, leg..'.state', 'begun', leg..'.try', try, leg..'.token', token, leg..'.begunAt', now_ms())
live_for(key, ttl)
return {'begun', tostring(redis.call('INCR', KEYS[2]))}
`);

/**
 * KEYS ledger. ARGV leg, consent, sequence. Whether a person may be asked for what this leg is to take along: not when it may have been sent.
 * From then on an answer to an earlier question is not sent any more.
 */
export const askScript = new Script(`${helpers}
local leg, consent, sequence = unpack(ARGV)
local found = row(KEYS[1], leg)
if found[1] and not never_ran(found) then return 0 end
local is_newer = tonumber(redis.call('HGET', KEYS[1], leg..'.askedIn') or '0') < tonumber(sequence)
if is_newer and redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HSET', KEYS[1], leg..'.asked', consent, leg..'.askedIn', sequence)
end
return 1
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
if redis.call('HEXISTS', KEYS[1], 'ended') == 1 then redis.call('HSET', KEYS[1], leg..'.late', 1) end
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
 * so long ago, of a call that was not closed since; or done, of one that was closed without anybody knowing how they ended.
 */
export const unaccountedScript = new Script(`${helpers}
local found, now = {}, tonumber(now_ms())
local function add(i, leg, r)
  local age = now - tonumber(r[4])
  if r[1] == 'done' or age >= tonumber(ARGV[1]) then
    for _, value in ipairs({i, leg, r[1], age, r[6] or ''}) do table.insert(found, tostring(value)) end
  end
end
-- A leg that let its call go on has most likely done so: what is not known is the one after it, whose row was lost.
local goes_on = { asked = true, turned_away = true, state_expired = true, never_sent = true, blocked = true }
local function came_late(key, leg)
  local is, late = unpack(redis.call('HMGET', key, leg..'.is', leg..'.late'))
  return is ~= 'unknown' and (late or not goes_on[is])
end
for i, key in ipairs(KEYS) do
  local ended = redis.call('HGET', key, 'ended')
  local leg, r = 1, nil
  local nxt = redis.call('HGET', key, '1.state')
  while nxt do
    if nxt ~= 'revoked' then r = { leg, nxt } end
    leg = leg + 1
    nxt = redis.call('HGET', key, leg..'.state')
  end
  local is_begun = r and r[2] == 'begun' and not ended
  local is_late = r and r[2] == 'done' and ended == 'indeterminate' and came_late(key, r[1])
  if is_begun or is_late then add(i, r[1], row(key, r[1])) end
end
return found
`);

/** KEYS ledger. ARGV what its call has ended as. */
export const endScript = new Script(`
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
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
