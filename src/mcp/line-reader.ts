/** Cuts a stream of bytes into lines (MCP, stdio: one message per line, UTF-8), none of them longer than a bound. */

const newline = 0x0a;

export class LineReader {
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly onLine: (text: string, bytes: number) => void,
  ) {}

  /** @returns false when a line is longer than the bound: what follows cannot be read any more */
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
    if (this.#bytes > this.maxBytes) {
      this.#parts = [];
      return false;
    }
    if (part.length > 0) this.#parts.push(part);
    return true;
  }

  #emit(): void {
    const text = Buffer.concat(this.#parts).toString();
    const bytes = this.#bytes;
    this.#parts = [];
    this.#bytes = 0;
    this.onLine(text, bytes);
  }
}
