/** Where the clients that the suite runs come with the URLs of its servers, and wait until what they stand for has been done. */

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What a client brings. */
export interface Introduction {
  readonly scenario: string;
  readonly serverUrl: string;
  /** What the scenario wishes for; most have none. */
  readonly context: Readonly<Record<string, unknown>>;
}

interface Visitor {
  readonly introduction: Introduction;
  readonly reply: ServerResponse;
}

export class Desk {
  readonly #server: Server;
  readonly #waiting = new Map<string, Visitor>();
  #onVisit = (): void => {};

  private constructor() {
    this.#server = createServer((request, reply) => {
      void text(request).then((body) => {
        const introduction = JSON.parse(body) as Introduction;
        this.#waiting.set(introduction.scenario, { introduction, reply });
        this.#onVisit();
      });
    });
  }

  static async open(): Promise<Desk> {
    const desk = new Desk();
    await new Promise<void>((listening) => desk.#server.listen(0, '127.0.0.1', listening));
    return desk;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Resolves when a client of every scenario is here. */
  async introductions(scenarios: readonly string[]): Promise<readonly Introduction[]> {
    await new Promise<void>((complete) => {
      this.#onVisit = () => {
        if (scenarios.every((scenario) => this.#waiting.has(scenario))) complete();
      };
      this.#onVisit();
    });
    return [...this.#waiting.values()].map(({ introduction }) => introduction);
  }

  /** Lets a scenario's client go, so that the referee judges. */
  dismiss(scenario: string, isAsExpected: boolean): void {
    this.#waiting
      .get(scenario)
      ?.reply.writeHead(isAsExpected ? 204 : 500)
      .end();
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
