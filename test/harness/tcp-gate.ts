/** A TCP relay in front of a real service, for tests about losing it: the connection is cut, the replies are swallowed, or nobody listens. */

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class TcpGate {
  private readonly pairs = new Set<readonly [Socket, Socket]>();
  private server: Server | undefined;
  private port = 0;
  private isMute = false;
  private lastHeard: string | undefined;

  constructor(private readonly target: URL) {}

  get url(): string {
    return `${this.target.protocol}//127.0.0.1:${this.port}`;
  }

  /** Listens; after {@link shut} on the same port again. */
  async open(): Promise<this> {
    this.isMute = false;
    this.server = createServer((near) => this.relay(near)).listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
    return this;
  }

  /** From now on what the service replies is swallowed; what is sent to it still arrives. */
  mute(): void {
    this.isMute = true;
  }

  /** As {@link mute}, from the moment on when somebody sends `text`. */
  muteAt(text: string): void {
    this.lastHeard = text;
  }

  /** Ends every connection; new ones may come. */
  cut(): void {
    for (const pair of this.pairs) for (const socket of pair) socket.destroy();
    this.pairs.clear();
  }

  /** Ends every connection and refuses new ones. */
  async shut(): Promise<void> {
    const server = this.server;
    this.server = undefined;
    if (server === undefined) return;
    const closed = once(server.close(), 'close');
    this.cut();
    await closed;
  }

  private relay(near: Socket): void {
    const far = connect(Number(this.target.port), this.target.hostname);
    const pair = [near, far] as const;
    this.pairs.add(pair);
    near.on('data', (chunk: Buffer) => {
      if (this.lastHeard !== undefined && chunk.includes(this.lastHeard)) this.mute();
      far.write(chunk);
    });
    far.on('data', (chunk) => void (this.isMute || near.write(chunk)));
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.pairs.delete(pair);
        near.destroy();
        far.destroy();
      });
    }
  }
}
