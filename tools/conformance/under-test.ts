/**
 * The Parley that the referee judges. What is done with it is what an agent and a person do over REST; nothing here speaks MCP.
 */

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { answerTo, type OpenConsent } from '../demo-call.js';
import { DevSecrets } from '../dev-secrets.js';
import { devToken } from '../dev-token.js';
import { startApi, startWorker, type Environment, type Running } from '../processes.js';
import { rest, type RestRequest } from '../rest.js';
import { settled } from '../settle.js';
import { until } from '../until.js';

/** What is looked at of an invocation. */
export interface Call {
  readonly id: string;
  readonly status: string;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly consent: string | null;
}

export interface ListedTool {
  readonly name: string;
  readonly inputSchema: unknown;
}

/** One Parley for all scenarios: an API and a worker of their own, whose registry holds the server of each. */
export class UnderTest {
  private constructor(
    private readonly dir: string,
    private readonly token: string,
    private readonly api: Running,
    private readonly worker: Running,
  ) {}

  /**
   * @param servers  URLs, by the ids under which they are registered
   * @param services where Temporal and Redis are
   */
  static async start(servers: ReadonlyMap<string, string>, services: Environment): Promise<UnderTest> {
    const dir = await mkdtemp(join(tmpdir(), 'parley-conformance-'));
    const secrets = await DevSecrets.in(join(dir, 'secrets'));
    const registry = join(dir, 'parley.servers.yaml');
    const entries = [...servers].map(([id, url]) => ({ id, title: `Referee of ${id}`, transport: 'streamable-http', url }));
    await writeFile(registry, stringify({ servers: entries }));
    const space = `conformance-${randomUUID()}`;
    const env: Environment = {
      PARLEY_HTTP_PORT: '0',
      PARLEY_WORKER_HTTP_PORT: '0',
      PARLEY_TASK_QUEUE: space,
      PARLEY_REDIS_PREFIX: space,
      PARLEY_SERVERS: registry,
      ...services,
      ...secrets.environment(),
    };
    const token = await devToken(secrets, { tenant: 'conformance', sub: 'user-1' });
    const [api, worker] = await settled([startApi(env), startWorker(env)]);
    return new UnderTest(dir, token, api, worker);
  }

  against(server: string): Caller {
    return new Caller(this.api.url, this.token, server);
  }

  async stop(): Promise<void> {
    await Promise.all([this.api.stop(), this.worker.stop()]);
    await rm(this.dir, { recursive: true, force: true });
  }
}

/** An agent, and the person its calls run for, with one server. */
export class Caller {
  constructor(
    private readonly apiUrl: string,
    private readonly token: string,
    private readonly server: string,
  ) {}

  /** @throws {Error} when the server's tools cannot be had */
  async tools(): Promise<readonly ListedTool[]> {
    return (await this.ask<{ items: ListedTool[] }>(`/v1/servers/${this.server}/tools`)).items;
  }

  /** Starts a call and waits for its outcome or its question. */
  async call(method: string, params: object): Promise<Call> {
    const started = await this.ask<Call>('/v1/invocations', {
      ...this.start(method, params),
      headers: { prefer: 'wait=30' },
    });
    if (started.outcome === null && started.consent === null) throw new Error(`${method} neither ended nor asked in 30 s`);
    return started;
  }

  /** `code` of the problem with which the API refuses to start a call; nothing when it starts it. */
  async refusalOf(method: string, params: object): Promise<string | undefined> {
    const reply = await rest(this.apiUrl, this.token, '/v1/invocations', this.start(method, params));
    return reply.status < 400 ? undefined : reply.body?.code;
  }

  /** Has the person accept what a call asks, and waits for the call's outcome. */
  async accept(asking: Call): Promise<Call> {
    if (asking.consent === null) throw new Error(`nothing was asked: ${asking.outcome} (${asking.reason})`);
    const consent = await this.ask<OpenConsent>(`/v1/consents/${asking.consent}`);
    await this.ask(`/v1/consents/${consent.id}/answer`, { body: answerTo(consent), idempotencyKey: randomUUID() });
    return await until(
      async () => {
        const call = await this.ask<Call>(`/v1/invocations/${asking.id}`);
        return call.outcome === null ? undefined : call;
      },
      30_000,
      `an outcome after the answer to ${consent.id}`,
    );
  }

  private start(method: string, params: object): RestRequest {
    return { body: { server: this.server, method, params }, idempotencyKey: randomUUID() };
  }

  private async ask<T>(path: string, request: RestRequest = {}): Promise<T> {
    const { status, body, text } = await rest(this.apiUrl, this.token, path, request);
    if (status >= 400) throw new Error(`${path}: Parley answered ${status}: ${text}`);
    return body as T;
  }
}
