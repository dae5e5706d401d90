/** One call of the matrix: brought to its moment, and, once the fault is over, answered by a patient person and judged by what is known. */

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

export interface Given {
  readonly consent: string;
  readonly round: number;
  readonly text: string;
  readonly key: string;
  /** Of the reply; 0 while there was none. */
  status: number;
}

/** Coming to a moment on a machine that does other things too. */
const bringMs = 45_000;
/** Some forty calls are looked at by one API, on a machine that has better things to do. */
const lookEveryMs = 800;

export class Call {
  /** Its name at the MCP server. */
  readonly key: string;
  readonly startKey = randomUUID();
  readonly given: Given[] = [];
  /** Set when the API has replied to the start. */
  id = '';

  constructor(
    private readonly rig: Rig,
    readonly method: CalledMethod,
    readonly momentName: MomentName | 'after',
    /** Narrows the server's policy. */
    private readonly policy: object = {},
  ) {
    this.key = `${momentName}-${method.replace('/', '-')}`.replaceAll('_', '-');
  }

  private get moment(): Moment | undefined {
    return this.momentName === 'after' ? undefined : moments[this.momentName];
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
    const params = paramsFor(this.method, this.key, this.moment?.wire);
    const body = { server: serverId, method: this.method, params, policy: this.policy };
    return this.ask('/v1/invocations', { body, idempotencyKey: this.startKey }, replica);
  }

  /** Starts it and brings it to its moment. */
  async bring(): Promise<void> {
    await this.start();
    const { holds = [], answers, wire } = this.moment ?? { answers: 'none' as const };
    this.rig.keeper.want(this.id, holds);
    if (this.momentName === 'parked' || answers !== 'none') await this.asked(1);
    // Held in the API, it has no reply until the keeper lets it go.
    if (answers === 'in_flight') void this.answer(await this.seen()).catch(() => {});
    if (answers === 'accepted') await this.accepted();
    if (holds.length > 0) await this.rig.keeper.arrived(this.id, holds, bringMs);
    if (wire !== undefined) await this.rig.mcp.firstLine(isHeld(this.key), bringMs);
  }

  async seen(): Promise<Seen> {
    const reply = await this.ask(`/v1/invocations/${this.id}`);
    if (reply.status !== 200) throw new Error(`GET ${this.id}: ${reply.status}`);
    return reply.body as Seen;
  }

  /** Answers whatever is open until the call has ended. @returns what was seen last */
  async finish(timeoutMs: number): Promise<Seen | undefined> {
    const deadline = Date.now() + timeoutMs;
    let last: Seen | undefined;
    while (Date.now() < deadline) {
      try {
        last = await this.seen();
        if (last.outcome !== null) return last;
        if (last.status === 'awaiting_input') await this.answer(last);
      } catch {
        // Away, or just started again: a person tries once more.
      }
      await delay(lookEveryMs * (0.75 + Math.random() / 2));
    }
    return last;
  }

  /** The same answer under the same key every time, as a browser repeats it. */
  async answer({ consent, round }: Seen): Promise<Given> {
    if (consent === null) throw new Error('nothing is asked');
    let given = this.given.find((each) => each.consent === consent);
    if (given === undefined) {
      given = { consent, round, text: `answer ${round} to ${consent}`, key: randomUUID(), status: 0 };
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

  private async asked(round: number): Promise<Seen> {
    return until(async () => {
      const seen = await this.seen();
      return seen.status === 'awaiting_input' && seen.round === round ? seen : undefined;
    }, bringMs);
  }

  private async accepted(): Promise<void> {
    const asked = await this.seen();
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

function isHeld(call: string): (line: string) => true | undefined {
  return (line) => (line.includes('"held"') && line.includes(`"${call}"`) ? true : undefined);
}
