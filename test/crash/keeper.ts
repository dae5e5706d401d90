/** Holds calls at their moments: processes of Parley ask it before they go past a point (hold-client.ts). */

import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { until } from '../../tools/until.js';
import type { Hold } from './moments.js';

interface Asking extends Hold {
  readonly id: number;
  readonly invocation: string;
}

export class Keeper {
  private readonly waiting = new Set<{ readonly asking: Asking; readonly go: () => void }>();
  private readonly wanted = new Map<string, readonly Hold[]>();
  private readonly sockets = new Set<Socket>();
  private isOpen = false;

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => this.serve(socket));
  }

  static async start(): Promise<Keeper> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Keeper(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Where a call is to stop; nowhere when empty. Before this is said, whatever asks for the call waits. */
  want(invocation: string, holds: readonly Hold[]): void {
    this.wanted.set(invocation, holds);
    this.look();
  }

  async arrived(invocation: string, holds: readonly Hold[], timeoutMs: number): Promise<void> {
    const isThere = (hold: Hold) =>
      [...this.waiting].some(({ asking }) => asking.invocation === invocation && isSame(asking, hold));
    await until(() => holds.every(isThere), timeoutMs, `${invocation} at ${holds.map(({ point }) => point).join(' and ')}`);
  }

  /** Nothing is held any more, and nothing will be. */
  open(): void {
    this.isOpen = true;
    this.look();
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((closed) => this.server.close(closed));
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    const lines = createInterface({ input: socket });
    // A process that is killed; readline passes the socket's error on.
    for (const each of [socket, lines]) each.on('error', () => {});
    lines.on('line', (line) => {
      const asking = JSON.parse(line) as Asking;
      this.waiting.add({ asking, go: () => void socket.write(`${asking.id}\n`) });
      this.look();
    });
  }

  private look(): void {
    for (const each of this.waiting) {
      const holds = this.wanted.get(each.asking.invocation);
      const mayGo = this.isOpen || (holds !== undefined && !holds.some((hold) => isSame(each.asking, hold)));
      if (!mayGo) continue;
      this.waiting.delete(each);
      each.go();
    }
  }
}

function isSame(asking: Hold, hold: Hold): boolean {
  return asking.point === hold.point && asking.number === hold.number;
}
