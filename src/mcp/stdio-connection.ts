/**
 * A connection that lives: one process of a server, spoken to over its standard input and output by many calls at once. A call that was
 * asked something over it can be answered over it alone, so it has a generation, which no other process ever has.
 *
 * Not the SDK's own stdio transport: that one reads messages through schemas that drop what the gate must see, does not tell whether a
 * request was written, and ends one process and not its children.
 */

import { randomUUID } from 'node:crypto';
import { CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/client';
import type { BoundConnection } from '../../domain/call.js';
import { isObject, jsonOf } from '../../domain/server-json.js';
import type { ServerDescription } from './catalog.js';
import { maxCatalogBytes, revision } from './catalog-reader.js';
import { clientInfo } from './client-info.js';
import { connectionLost, type Connection } from './connection.js';
import { Leg, maxTimerMs } from './leg.js';
import type { LegMessage } from './leg-message.js';
import { outcomeOf, type WireOutcome } from './leg-outcome.js';
import { LineReader, type Line } from './line-reader.js';
import { StdioDescription } from './stdio-description.js';
import type { Wire } from './shared-transport.js';
import { ServerProcess } from './server-process.js';
import type { ServerProgram } from './server-program.js';
import { maxValuesIn } from './value-count.js';

/** Lines that are no JSON object, since something that was awaited: a program that prints to its output by mistake does so rarely. */
const maxGarbageLines = 100;
/** Bytes of what nobody awaits (garbage, notifications, answers to ids that are not open), since something that was awaited. */
const maxUnawaitedBytes = 16 * 1024 * 1024;
/** Requests that the program does not read. */
const maxUnreadBytes = 16 * 1024 * 1024;

interface Awaited {
  readonly maxBytes: number;
  take(message: Record<string, unknown>, bytes: number): void;
  tooLarge(): void;
  lost(): void;
}

/** Why a connection ended; a stable code. */
export type ConnectionEnd = 'process_ended' | 'output_too_large' | 'output_invalid' | 'not_mcp' | 'stopped';

export class StdioConnection implements Connection, Wire {
  readonly generation: string = randomUUID();
  /** Resolves when no leg can be sent over it any more. */
  readonly ended: Promise<ConnectionEnd>;
  /** Resolves when the process is gone as well. */
  readonly gone: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  readonly #binding: Omit<BoundConnection, 'generation'>;
  readonly #process: ServerProcess;
  readonly #lines: LineReader;
  readonly #description: StdioDescription;
  readonly #awaited = new Map<string, Awaited>();
  readonly #watchers = new Set<() => void>();
  #end!: (end: ConnectionEnd) => void;
  #isOpen = true;
  #garbageLines = 0;
  #unawaitedBytes = 0;

  constructor(
    program: ServerProgram,
    binding: Omit<BoundConnection, 'generation'>,
    onDescribed: (description: ServerDescription) => void,
  ) {
    this.#binding = binding;
    this.#description = new StdioDescription(program.id, this, onDescribed);
    this.ended = new Promise((resolve) => (this.#end = resolve));
    // A leg's own bound is checked when its response is here; this one keeps the memory.
    const maxLineBytes = Math.max(program.maxResultBytes, maxCatalogBytes);
    this.#lines = new LineReader(maxLineBytes, (line) => this.#read(line));
    let gone!: (exit: { code: number | null; signal: NodeJS.Signals | null }) => void;
    this.gone = new Promise((resolve) => (gone = resolve));
    this.#process = new ServerProcess(program, {
      output: (chunk) => {
        if (this.#isOpen && !this.#lines.take(chunk)) this.#abandon('output_too_large');
      },
      ended: (exit) => {
        this.#close('process_ended');
        gone(exit);
      },
    });
  }

  get isOpen(): boolean {
    return this.#isOpen && this.#process.takesInput;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** What a call is bound to. */
  get binding(): BoundConnection {
    return { ...this.#binding, generation: this.generation };
  }

  /** Never throws, and never sends twice. A request that was handed to the process's input counts as sent. */
  async send({ wireId, method, params, capabilities, deadlineMs, maxBytes }: LegMessage): Promise<WireOutcome> {
    const meta = {
      ...(params['_meta'] as object | undefined),
      [PROTOCOL_VERSION_META_KEY]: revision,
      [CLIENT_INFO_META_KEY]: clientInfo,
      [CLIENT_CAPABILITIES_META_KEY]: capabilities,
    };
    const line = lineOf({ jsonrpc: '2.0', id: wireId, method, params: { ...params, _meta: meta } });
    if (!this.isOpen) return { is: 'never_sent', proof: connectionLost };
    if (this.#process.unreadBytes > maxUnreadBytes) return { is: 'never_sent', proof: 'connection_busy' };
    const leg = new Leg(wireId);
    const broken = (reason: string) => leg.end({ is: 'broken', reason });
    this.#awaited.set(wireId, {
      maxBytes,
      take: (message) => {
        leg.receive(message);
        // A response that is neither a result nor an error settles nothing, and no other will come.
        broken('response_invalid');
      },
      tooLarge: () => broken('response_too_large'),
      lost: () => broken(connectionLost),
    });
    leg.takePost();
    this.#process.write(line);
    const deadline = setTimeout(() => this.#cancel(wireId, leg), Math.min(deadlineMs, maxTimerMs));
    const ending = await leg.ended;
    clearTimeout(deadline);
    return outcomeOf(ending, 1);
  }

  /** @see StdioDescription.get */
  async describe(maxAgeMs: number): Promise<ServerDescription> {
    try {
      return await this.#description.get(maxAgeMs);
    } catch (error) {
      if (!this.#description.isKnown) this.#abandon('not_mcp');
      throw error;
    }
  }

  /** @param onEnd told once when no leg can be sent any more @returns ends the watch */
  watch(onEnd: () => void): () => void {
    this.#watchers.add(onEnd);
    return () => void this.#watchers.delete(onEnd);
  }

  /** The end of the process as well; idempotent. */
  stop(): void {
    this.#close('stopped');
    this.#process.stop();
  }

  ask(request: { readonly id: string }, maxBytes: number, onReply: Awaited['take'], onLost: () => void): void {
    if (!this.isOpen) throw new Error(connectionLost);
    this.#awaited.set(request.id, { maxBytes, take: onReply, tooLarge: onLost, lost: onLost });
    this.#process.write(lineOf(request));
  }

  forget(id: string): void {
    this.#awaited.delete(id);
  }

  /** Nobody waits for the answer any more; whether the server obeys is its own affair. */
  #cancel(wireId: string, leg: Leg): void {
    this.#awaited.delete(wireId);
    if (this.isOpen) {
      const params = { requestId: wireId, reason: 'deadline' };
      this.#process.write(lineOf({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
    }
    leg.end({ is: 'broken', reason: 'deadline' });
  }

  #read({ text, bytes, values }: Line): void {
    if (!this.#isOpen) return;
    const message = jsonOf(text);
    const isMessage = isObject(message);
    const id = isMessage && !('method' in message) && typeof message['id'] === 'string' ? message['id'] : undefined;
    const awaited = id === undefined ? undefined : this.#awaited.get(id);
    if (id === undefined || awaited === undefined || !isMessage) return this.#bear(bytes, isMessage);
    this.#garbageLines = 0;
    this.#unawaitedBytes = 0;
    this.#awaited.delete(id);
    if (bytes > awaited.maxBytes || values > maxValuesIn(awaited.maxBytes)) awaited.tooLarge();
    else awaited.take(message, bytes);
  }

  /** Servers notify, and answer late to what was cancelled; without end they may not. */
  #bear(bytes: number, isMessage: boolean): void {
    this.#unawaitedBytes += bytes;
    if (!isMessage) this.#garbageLines += 1;
    if (this.#garbageLines > maxGarbageLines || this.#unawaitedBytes > maxUnawaitedBytes) this.#abandon('output_invalid');
  }

  /** What it says cannot be made sense of any more. */
  #abandon(end: ConnectionEnd): void {
    this.#close(end);
    this.#process.stop();
  }

  #close(end: ConnectionEnd): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const lost = [...this.#awaited.values()];
    this.#awaited.clear();
    for (const each of lost) each.lost();
    for (const onEnd of this.#watchers) onEnd();
    this.#end(end);
  }
}

/** JSON escapes every newline. */
function lineOf(message: object): string {
  return `${JSON.stringify(message)}\n`;
}
