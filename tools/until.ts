/** Waiting for a condition, never for a time. */

/**
 * The first value of `condition` that is not undefined, null or false.
 *
 * @throws {Error} after `timeoutMs`, with the last error when the condition kept throwing
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  timeoutMs = 20_000,
  what = 'the condition',
  everyMs = 25,
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = Date.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value !== undefined && value !== null && value !== false) return value as Exclude<T, undefined | null | false>;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() > deadline) throw new Error(`${what} did not come about within ${timeoutMs} ms`, { cause: lastError });
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
