/**
 * `sampling/createMessage` as a question to a person (design §6): what a server would say to a model is shown to them, and the message
 * they give back is theirs. No model is ever called. Only text can be shown, so anything else refuses the round.
 */

import type { SamplingInput, SamplingMessage } from './form.js';
import { GateRefusal } from './gate-refusal.js';
import { pointerTo } from './json-pointer.js';
import type { GateCaps } from './policy.js';
import { objectAt, present, textAt, type JsonObject } from './server-json.js';

/** @throws {GateRefusal} on anything that Parley could not show, or did not declare */
export function readSampling(params: JsonObject, path: string, caps: GateCaps): Omit<SamplingInput, 'key' | 'kind'> {
  // Each would need a capability of its own.
  for (const member of ['tools', 'toolChoice']) {
    if (params[member] !== undefined) throw new GateRefusal('undeclared_kind', pointerTo(path, member));
  }
  if (![undefined, 'none'].includes(params['includeContext'] as string | undefined)) {
    throw new GateRefusal('undeclared_kind', `${path}/includeContext`);
  }

  const messages = listAt(params['messages'], `${path}/messages`);
  if (messages.length === 0) throw new GateRefusal('request_malformed', `${path}/messages`);
  const { systemPrompt, maxTokens, temperature, stopSequences } = params;
  if (!Number.isSafeInteger(maxTokens) || (maxTokens as number) < 1)
    throw new GateRefusal('request_malformed', `${path}/maxTokens`);
  if (temperature !== undefined && !Number.isFinite(temperature))
    throw new GateRefusal('request_malformed', `${path}/temperature`);
  return {
    messages: messages.flatMap((message, index) => readMessage(message, pointerTo(`${path}/messages`, index), caps)),
    maxTokens: maxTokens as number,
    ...present({
      systemPrompt: systemPrompt === undefined ? undefined : proseAt(systemPrompt, `${path}/systemPrompt`, caps),
      modelHints: readHints(params['modelPreferences'], `${path}/modelPreferences`, caps),
      temperature: temperature as number | undefined,
      stopSequences:
        stopSequences === undefined
          ? undefined
          : listAt(stopSequences, `${path}/stopSequences`).map((each, index) =>
              proseAt(each, pointerTo(`${path}/stopSequences`, index), caps),
            ),
    }),
  };
}

/** One entry for each block of the message's content. */
function readMessage(raw: unknown, path: string, caps: GateCaps): SamplingMessage[] {
  const { role, content } = objectAt(raw, path, 'request_malformed');
  if (role !== 'user' && role !== 'assistant') throw new GateRefusal('request_malformed', `${path}/role`);
  const blocks = Array.isArray(content) ? content.map((block, index) => [block, `${path}/content/${index}`] as const) : undefined;
  return (blocks ?? [[content, `${path}/content`] as const]).map(([block, at]) => {
    const { type, text } = objectAt(block, at, 'request_malformed');
    if (typeof type === 'string' && type !== 'text') throw new GateRefusal('sampling_content_unsupported', `${at}/type`);
    if (type !== 'text') throw new GateRefusal('request_malformed', `${at}/type`);
    return { role, text: proseAt(text, `${at}/text`, caps) };
  });
}

function readHints(raw: unknown, path: string, caps: GateCaps): string[] | undefined {
  if (raw === undefined) return undefined;
  const { hints } = objectAt(raw, path, 'request_malformed');
  if (hints === undefined) return undefined;
  return listAt(hints, `${path}/hints`).flatMap((hint, index) => {
    const at = pointerTo(`${path}/hints`, index);
    const { name } = objectAt(hint, at, 'request_malformed');
    return name === undefined ? [] : [proseAt(name, `${at}/name`, caps)];
  });
}

function proseAt(raw: unknown, path: string, caps: GateCaps): string {
  return textAt(raw, path, { maxBytes: caps.maxMessageBytes, malformed: 'request_malformed', tooLong: 'message_too_long' });
}

function listAt(raw: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(raw)) throw new GateRefusal('request_malformed', path);
  return raw;
}
