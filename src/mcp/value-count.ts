/**
 * How many JSON values a body holds, counted while it is read: once parsed, four megabytes of `[],[],[]` take more than sixty of memory, and
 * a worker reads a hundred responses at once.
 */

/** Denser than anything but lists of single digits; parsed, a value takes about as many bytes more. */
const bytesPerValue = 16;

/** How many objects, arrays and members a response may hold that may be so many bytes long. */
export function maxValuesIn(maxBytes: number): number {
  return Math.ceil(maxBytes / bytesPerValue);
}

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
