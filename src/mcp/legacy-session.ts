/**
 * A session of MCP 2025-11-25, of one call alone. In that revision a server pushes its questions while the request is pending: here each of them
 * ends a leg like a round of the present revision, and the next leg is the answer that it waits for. Nothing is resumed, and nothing goes
 * to another session.
 */

import { randomUUID } from 'node:crypto';
import type { Dispatcher } from 'undici';
import type { BoundConnection, Capabilities } from '../../domain/call.js';
import { isObject } from '../../domain/server-json.js';
import { connectionLost, type Connection, type Offer } from './connection.js';
import { ResponseFault } from './http-exchange.js';
import { Leg, maxTimerMs } from './leg.js';
import type { LegMessage } from './leg-message.js';
import { outcomeOf, type WireOutcome } from './leg-outcome.js';
import { codeOf } from './leg-sender.js';
import { isEventStream, postOnce, refusalOf } from './leg-transport.js';
import { LegacyDescription } from './legacy-description.js';
import { LegacyHttp } from './legacy-http.js';
import type { ServerEndpoint } from './server-endpoint.js';
import type { WireProof } from './wire-proof.js';

/** Questions that wait for their turn; of one call, and each of them for a person. */
const maxQuestions = 16;
/** Each is answered by a request. */
const maxPings = 1_000;

export interface LegacySessionOptions {
  readonly agent: Dispatcher;
  readonly proof: WireProof;
  readonly endpoint: ServerEndpoint;
  /** Declared once, when the session begins. */
  readonly capabilities: Capabilities;
  readonly maxResultBytes: number;
  readonly binding: Omit<BoundConnection, 'generation'>;
  /** Told each time the server was asked for its tools. */
  readonly onDescribed: (description: Offer) => void;
}

/** What the server has asked, exactly as it came. */
interface Question {
  readonly id: unknown;
  readonly method: unknown;
  readonly params?: unknown;
}

/** Why a session ended; a stable code. */
export type SessionEnd =
  | 'answered'
  | 'stream_ended'
  | 'too_many_questions'
  | 'no_session'
  | 'withdrawn'
  | 'unclear'
  | 'forgotten'
  | 'stopped';

export class LegacySession implements Connection {
  readonly generation: string = randomUUID();
  /** Resolves when no leg can be sent in it any more. */
  readonly ended: Promise<SessionEnd>;
  /** Resolves when the server has been told as well. */
  readonly gone: Promise<void>;
  readonly #options: LegacySessionOptions;
  readonly #http: LegacyHttp;
  readonly #description: LegacyDescription;
  readonly #watchers = new Set<() => void>();
  readonly #questions: Question[] = [];
  readonly #stream = new AbortController();
  #end!: (end: SessionEnd) => void;
  #isOpen = true;
  /** JSON-RPC id of the call, from when it is posted: a server may ask before it says anything of the request itself. */
  #callId: string | undefined;
  /** A question came in the place of the result, which is still to come. */
  #isResultDue = false;
  /** The leg that waits for the result or a question. */
  #leg: Leg | undefined;
  /** The first question is being answered: the next one has to wait. */
  #isAnswering = false;
  #pings = 0;

  constructor(options: LegacySessionOptions) {
    const { agent, endpoint, capabilities, maxResultBytes } = options;
    this.#options = options;
    this.#http = new LegacyHttp(agent, endpoint);
    const onPushed = (message: unknown) => this.#receive(message);
    const describing = { agent, endpoint, capabilities, http: this.#http, maxPushedBytes: maxResultBytes, onPushed };
    this.#description = new LegacyDescription(describing);
    this.ended = new Promise((resolve) => (this.#end = resolve));
    this.gone = this.ended.then(() => this.#leave());
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get binding(): BoundConnection {
    return { ...this.#options.binding, generation: this.generation };
  }

  /** From now on, this credential. */
  use(endpoint: ServerEndpoint): void {
    this.#http.use(endpoint);
  }

  /** Asks anew whatever the age: a session is as old as its call. */
  async describe(): Promise<Offer> {
    try {
      const description = await this.#description.get();
      this.#options.onDescribed(description);
      return description;
    } catch (error) {
      if (this.#description.isForgotten) this.#close('forgotten');
      throw error;
    }
  }

  watch(onEnd: () => void): () => void {
    this.#watchers.add(onEnd);
    return () => void this.#watchers.delete(onEnd);
  }

  /** The first leg is the call; every later one is the answer to what the server has asked first. */
  async send(message: LegMessage): Promise<WireOutcome> {
    if (!this.#isOpen) return { is: 'never_sent', proof: connectionLost };
    const leg = new Leg(this.#callId ?? message.wireId);
    const watch = this.#options.proof.watch();
    const aborting = new AbortController();
    this.#leg = leg;
    const deadline = setTimeout(() => leg.end({ is: 'broken', reason: 'deadline' }), Math.min(message.deadlineMs, maxTimerMs));
    const isCall = this.#callId === undefined;
    const signal = AbortSignal.any([aborting.signal, this.#stream.signal]);
    const sending = isCall ? this.#call(leg, message, watch.traceparent) : this.#answer(leg, message, watch.traceparent, signal);
    sending.catch((error: unknown) => {
      leg.end({ is: 'broken', reason: codeOf(error) ?? 'response_invalid' });
      // The call's own leg has long ended, with a question: now the call has no result any more.
      if (isCall && this.#isResultDue) this.#lose('stream_ended');
    });
    const ending = await leg.ended;
    clearTimeout(deadline);
    this.#leg = undefined;
    const isOver = ending.is === 'error' || (ending.is === 'result' && !isQuestion(ending.result));
    // Only once it is aborted is it certain that nothing more gets written.
    if (ending.is === 'broken') aborting.abort();
    if (ending.is === 'broken' && isCall) this.#stream.abort();
    const outcome = outcomeOf(ending, watch.sends);
    watch.stop();
    // The server did not take it.
    if (isCall && (outcome.is === 'never_sent' || outcome.is === 'rejected')) this.#callId = undefined;
    if (isOver) this.#close('answered');
    else if (outcome.is === 'unknown') this.#close('unclear');
    return outcome;
  }

  /** Idempotent. */
  stop(): void {
    this.#close('stopped');
  }

  async #call(leg: Leg, { wireId, method, params, maxBytes }: LegMessage, traceparent: string): Promise<void> {
    let isStream = false;
    const { agent } = this.#options;
    const transport = this.#http.transport(async (url, init) => {
      const signal = AbortSignal.any([this.#stream.signal, ...(init?.signal ? [init.signal] : [])]);
      const headers = new Headers(init?.headers);
      headers.set('traceparent', traceparent);
      this.#callId = wireId;
      const response = await postOnce(leg, url, { ...init, headers, signal }, { agent, maxBytes });
      isStream = isEventStream(response);
      return response;
    });
    // The transport is no EventTarget.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    transport.onmessage = (incoming) => this.#receive(incoming);
    await transport.start();
    const onRequestStreamEnd = () => this.#lose('stream_ended');
    await transport.send({ jsonrpc: '2.0', id: wireId, method, params }, { onRequestStreamEnd });
    // A whole body was read: if it held no response, none will come.
    if (!isStream) throw new ResponseFault('response_invalid');
  }

  async #answer(leg: Leg, { params }: LegMessage, traceparent: string, signal: AbortSignal): Promise<void> {
    const [question] = this.#questions;
    const responses = params['inputResponses'];
    const key = String(question?.id);
    if (question === undefined || !isObject(responses) || !Object.hasOwn(responses, key)) {
      return leg.end({ is: 'broken', reason: 'request_unfit' });
    }
    leg.takePost();
    this.#isAnswering = true;
    try {
      const reply = await this.#http.tell({ id: question.id, result: responses[key] }, signal, traceparent);
      if (!reply.ok) {
        leg.end(await refusalOf(reply, leg.wireId));
        // The server does not know the session any more.
        if (reply.status === 404) this.#close('forgotten');
        return;
      }
      void reply.text().catch(() => undefined);
      this.#questions.shift();
    } finally {
      this.#isAnswering = false;
    }
    this.#ask();
  }

  #receive(message: unknown): void {
    if (!this.#isOpen || !isObject(message)) return;
    if (!('method' in message)) return this.#conclude(message);
    const { id, method, params } = message;
    if (method === 'notifications/cancelled') return this.#withdraw(isObject(params) ? params['requestId'] : undefined);
    if (id === undefined) return;
    if (method === 'ping') return this.#pong(id);
    // Before the call, nobody is there who could be asked.
    if (this.#callId === undefined) return;
    if (!this.#http.hasSession) return this.#lose('no_session');
    if (this.#questions.length >= maxQuestions) return this.#lose('too_many_questions');
    this.#questions.push({ id, method, ...(params !== undefined && { params }) });
    this.#ask();
  }

  /** The result, or the error. One that comes while a person thinks has nobody to take it: the question is moot, and the call with it. */
  #conclude(message: Record<string, unknown>): void {
    this.#isResultDue = false;
    const leg = this.#takeLeg();
    if (leg === undefined) return this.#close('answered');
    const { result } = message;
    // What the present revision reads into a result means nothing in this one.
    const { resultType: _, ...rest } = isObject(result) ? result : {};
    leg.receive(isObject(result) ? { ...message, result: rest } : message);
  }

  /** The first question goes to the leg that waits. */
  #ask(): void {
    const [question] = this.#questions;
    if (question === undefined || this.#isAnswering) return;
    const { id, ...request } = question;
    this.#isResultDue = true;
    this.#takeLeg()?.end({ is: 'result', result: { resultType: 'input_required', inputRequests: { [String(id)]: request } } });
  }

  /** Whatever comes next comes while no leg waits. */
  #takeLeg(): Leg | undefined {
    const leg = this.#leg;
    this.#leg = undefined;
    return leg;
  }

  /** The server has lost patience. With the question that is being thought about, the call is lost. */
  #withdraw(id: unknown): void {
    const index = this.#questions.findIndex((question) => question.id === id);
    if (index > 0) this.#questions.splice(index, 1);
    else if (index === 0 && this.#leg === undefined) this.#close('withdrawn');
  }

  #pong(id: unknown): void {
    if (++this.#pings > maxPings) return;
    const signal = AbortSignal.any([this.#stream.signal, AbortSignal.timeout(this.#options.binding.leaseMs)]);
    void this.#http.tell({ id, result: {} }, signal).then(
      (response) => response.body?.cancel(),
      () => undefined,
    );
  }

  #lose(why: SessionEnd): void {
    this.#leg?.end({ is: 'broken', reason: why });
    this.#close(why);
  }

  #close(end: SessionEnd): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#leg?.end({ is: 'broken', reason: connectionLost });
    if (end === 'answered') this.#callId = undefined;
    for (const onEnd of this.#watchers) onEnd();
    this.#end(end);
  }

  async #leave(): Promise<void> {
    this.#stream.abort();
    await this.#description.close();
    await this.#http.farewell(this.#callId);
  }
}

function isQuestion(result: Record<string, unknown>): boolean {
  return result['resultType'] === 'input_required';
}
