/**
 * Waits for all, also when one fails: what has started by then is known to whoever has to stop it.
 *
 * @throws the first failure, after the last one has settled
 */
export async function settled<T extends readonly unknown[]>(starting: { [K in keyof T]: Promise<T[K]> }): Promise<T> {
  const results = await Promise.allSettled(starting);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as unknown as T;
}
