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

const nothing = Buffer.alloc(0);

export class LineReader {
  readonly #maxValues: number;
  /** The line so far, in its first `#bytes`: chunks are copied, for each takes hundreds of bytes of memory, and may hold a single one. */
  #kept = nothing;
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
    const before = this.#bytes;
    this.#bytes += part.length;
    this.#values.add(part);
    if (this.#bytes > this.maxBytes || this.#values.total > this.#maxValues) {
      this.#kept = nothing;
      return false;
    }
    if (this.#bytes > this.#kept.length) this.#grow(before);
    part.copy(this.#kept, before);
    return true;
  }

  /** At least twice as large, so that no byte is copied more than a few times. */
  #grow(filled: number): void {
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes, 2 * filled));
    this.#kept.copy(grown, 0, 0, filled);
    this.#kept = grown;
  }

  #emit(): void {
    const line = { text: this.#kept.toString('utf8', 0, this.#bytes), bytes: this.#bytes, values: this.#values.total };
    this.#kept = nothing;
    this.#bytes = 0;
    this.#values = new ValueCount();
    this.onLine(line);
  }
}
