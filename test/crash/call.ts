/** One call of the matrix, as its agent and its person see it: started, brought to its moment, answered, looked at until it has ended. */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { rest, type RestReply, type RestRequest } from '../../tools/rest.js';
import { until } from '../../tools/until.js';
import { fieldKey, formKey, paramsFor } from './effect-protocol.js';
import { moments, type CalledMethod, type Moment, type MomentName } from './moments.js';
import { serverId, type Rig } from './rig.js';

/** What is looked at of `GET /v1/invocations/{id}`. */
export interface Seen {
  readonly status: string;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly leg: number;
  readonly round: number;
  readonly consent: string | null;
  readonly startedAt: string;
  readonly result: unknown;
}

/** What is open. */
export interface Asked {
  readonly consent: string;
  readonly round: number;
}

export interface Given extends Asked {
  readonly text: string;
  readonly key: string;
  /** When it was given first, epoch milliseconds. */
  readonly at: number;
  /** Of the reply; 0 while there was none. */
  status: number;
}

/** Coming to a moment on a machine that does other things too. */
const bringMs = 45_000;
/** Some forty calls are looked at by one API, on a machine that has better things to do. */
const lookEveryMs = 1_500;
/** Inbox and call change together: what takes longer than a busy API is hidden. */
const showMs = 30_000;

export interface CallOptions {
  /** Where it is held; absent: nowhere. */
  readonly moment?: MomentName;
  /** Tells calls of one method apart at the MCP server; default: the moment's. */
  readonly name?: string;
  /** Narrows the server's policy. */
  readonly policy?: object | undefined;
}

export class Call {
  /** Its name at the MCP server. */
  readonly key: string;
  readonly startKey = randomUUID();
  readonly given: Given[] = [];
  /** Consents that were in the inbox and not in the call. */
  readonly notShown: string[] = [];
  /** Set when the API has replied to the start. */
  id = '';

  constructor(
    private readonly rig: Rig,
    readonly method: CalledMethod,
    private readonly options: CallOptions = {},
  ) {
    const { moment = 'plain', name = moment } = options;
    this.key = `${name}-${method.replace('/', '-')}`.replaceAll('_', '-');
  }

  get moment(): MomentName | undefined {
    return this.options.moment;
  }

  /** What a judge wants to know from it. */
  get facts(): Pick<Call, 'method' | 'id' | 'given' | 'notShown'> {
    const { method, id, given, notShown } = this;
    return { method, id, given, notShown };
  }

  async start(): Promise<void> {
    const { body } = await this.patiently(() => this.postStart());
    this.id = body.id as string;
  }

  /**
   * The same request every time, as a client repeats it.
   *
   * @param replica index of the API that is asked
   */
  async postStart(replica = 0): Promise<RestReply> {
    const params = paramsFor(this.method, this.key, this.held.wire);
    const body = { server: serverId, method: this.method, params, policy: this.options.policy ?? {} };
    return this.ask('/v1/invocations', { body, idempotencyKey: this.startKey }, replica);
  }

  /** Starts it and brings it to its moment. */
  async bring(): Promise<void> {
    await this.start();
    const { holds = [], answers, wire } = this.held;
    this.rig.keeper.want(this.id, holds);
    if (this.moment === 'parked' || answers !== 'none') await this.asked(1);
    // Held in the API, it has no reply until the keeper lets it go.
    if (answers === 'in_flight') void this.answer(askedIn(await this.seen())).catch(() => {});
    if (answers === 'accepted') await this.accepted();
    if (holds.length > 0) await this.rig.keeper.arrived(this.id, holds, bringMs);
    if (wire !== undefined) await this.rig.mcp.firstLine(isHeld(this.key), bringMs);
  }

  async seen(): Promise<Seen> {
    const reply = await this.ask(`/v1/invocations/${this.id}`);
    if (reply.status !== 200) throw new Error(`GET ${this.id}: ${reply.status}`);
    return reply.body as Seen;
  }

  /** @returns what was seen last when the call has ended, or the time is up */
  async ended(timeoutMs: number, everyMs = lookEveryMs): Promise<Seen | undefined> {
    const deadline = Date.now() + timeoutMs;
    let last: Seen | undefined;
    while (Date.now() < deadline) {
      last = await this.seen().catch(() => last);
      if (typeof last?.outcome === 'string') return last;
      await delay(everyMs * (0.75 + Math.random() / 2));
    }
    return last;
  }

  /** Answers what the inbox shows, once the call shows it too: whoever made the call sends its person there. */
  async answerFromInbox(asked: Asked): Promise<void> {
    if (this.given.some(({ consent }) => consent === asked.consent)) return void (await this.answer(asked));
    const isShown = async () => (await this.seen()).consent === asked.consent;
    const isMissing = await until(isShown, showMs, 'the question in its call', 250).then(
      () => false,
      // An API that does not answer hides nothing.
      ({ cause }: Error) => cause === undefined,
    );
    if (isMissing) this.notShown.push(asked.consent);
    await this.answer(asked);
  }

  /** The same answer under the same key every time, as a browser repeats it. */
  async answer({ consent, round }: Asked): Promise<Given> {
    let given = this.given.find((each) => each.consent === consent);
    if (given === undefined) {
      given = { consent, round, text: `answer ${round} to ${consent}`, key: randomUUID(), at: Date.now(), status: 0 };
      this.given.push(given);
    }
    if (given.status !== 200) given.status = (await this.postAnswer(given)).status;
    return given;
  }

  async postAnswer({ consent, text, key }: Given, replica = 0): Promise<RestReply> {
    const { status, body } = await this.ask(`/v1/consents/${consent}`, {}, replica);
    if (status !== 200) throw new Error(`GET ${consent}: ${status}`);
    const responses = { [formKey]: { action: 'accept', content: { [fieldKey]: text } } };
    const request = { body: { digest: body.digest, responses }, idempotencyKey: key };
    return this.ask(`/v1/consents/${consent}/answer`, request, replica);
  }

  private get held(): Pick<Moment, 'holds' | 'answers' | 'wire'> {
    return this.moment === undefined ? { answers: 'none' } : moments[this.moment];
  }

  async asked(round: number): Promise<Seen> {
    return until(async () => {
      const seen = await this.seen();
      return seen.status === 'awaiting_input' && seen.round === round ? seen : undefined;
    }, bringMs);
  }

  private async accepted(): Promise<void> {
    const asked = askedIn(await this.seen());
    await until(async () => (await this.answer(asked)).status === 200, bringMs, `a verdict on the answer of ${this.key}`);
  }

  private async patiently(post: () => Promise<RestReply>): Promise<RestReply> {
    return until(
      async () => {
        const reply = await post();
        if (reply.status < 400) return reply;
        throw new Error(`${reply.status}: ${reply.text}`);
      },
      bringMs,
      `a start of ${this.key}`,
      250,
    );
  }

  private async ask(path: string, request: RestRequest = {}, replica = 0): Promise<RestReply> {
    return rest(this.rig.api(replica).url, await this.rig.token(), path, request);
  }
}

export function askedIn({ consent, round }: Seen): Asked {
  if (consent === null) throw new Error('nothing is asked');
  return { consent, round };
}

function isHeld(call: string): (line: string) => true | undefined {
  return (line) => (line.includes('"held"') && line.includes(`"${call}"`) ? true : undefined);
}
