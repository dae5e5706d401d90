/**
 * How many JSON values a body holds, counted while it is read: once parsed, four megabytes of `[],[],[]` take more than sixty of memory, and
 * a worker reads a hundred responses at once.
 */

/** Objects, arrays and their members, of one response: far beyond what anybody reads, and a few megabytes once parsed. */
export const maxValues = 250_000;

const [quote, backslash, newline, comma, bracket, brace] = Buffer.from('"\\\n,[{') as Iterable<number> as number[];

export class ValueCount {
  total = 0;
  #inText = false;
  #isEscaped = false;

  add(chunk: Uint8Array): void {
    for (const byte of chunk) {
      // No JSON text goes on past the end of a line; so what an event stream holds beside JSON cannot hide what comes after.
      if (byte === newline) this.#inText = this.#isEscaped = false;
      else if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === quote) this.#inText = !this.#inText;
      else if (this.#inText) this.#isEscaped = byte === backslash;
      else if (byte === comma || byte === bracket || byte === brace) this.total += 1;
    }
  }
}
