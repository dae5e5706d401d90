/**
 * Cuts a stream of bytes into lines (MCP, stdio: one message per line, UTF-8), none of them longer than a bound, nor of more JSON values than
 * {@link maxValuesIn} allows for so many bytes.
 */

import { maxValuesIn, ValueCount } from './value-count.js';

const newline = 0x0a;

export interface Line {
  readonly text: string;
  readonly bytes: number;
  /** JSON values in it. */
  readonly values: number;
}

export class LineReader {
  readonly #maxValues: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #values = new ValueCount();

  constructor(
    private readonly maxBytes: number,
    private readonly onLine: (line: Line) => void,
  ) {
    this.#maxValues = maxValuesIn(maxBytes);
  }

  /** @returns false when a line is larger than the bound: what follows cannot be read any more */
  take(chunk: Buffer): boolean {
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      if (!this.#keep(chunk.subarray(from, at))) return false;
      this.#emit();
      from = at + 1;
    }
    return this.#keep(chunk.subarray(from));
  }

  #keep(part: Buffer): boolean {
    this.#bytes += part.length;
    this.#values.add(part);
    if (this.#bytes > this.maxBytes || this.#values.total > this.#maxValues) {
      this.#parts = [];
      return false;
    }
    if (part.length > 0) this.#parts.push(part);
    return true;
  }

  #emit(): void {
    const line = { text: Buffer.concat(this.#parts).toString(), bytes: this.#bytes, values: this.#values.total };
    this.#parts = [];
    this.#bytes = 0;
    this.#values = new ValueCount();
    this.onLine(line);
  }
}
