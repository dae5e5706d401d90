/** The `wait` preference of RFC 7240: how long a caller is willing to wait for an outcome. */

/** A reply is held back no longer than this, so that proxies with a minute's patience still see one. Seconds. */
export const maxWaitSeconds = 60;

/**
 * @param header the `Prefer` header, several of them joined with commas
 * @returns seconds, 0 to {@link maxWaitSeconds}; undefined when there is no usable wait preference: RFC 7240 has it ignored then
 */
export function waitPreference(header: string | undefined): number | undefined {
  for (const preference of header?.split(',') ?? []) {
    const [token = ''] = preference.split(';');
    const [name, value, ...rest] = token.split('=').map((part) => part.trim());
    if (name?.toLowerCase() !== 'wait' || rest.length > 0) continue;
    const digits = /^"?(\d{1,9})"?$/.exec(value ?? '')?.[1];
    // The first one counts, even when it is unusable.
    return digits === undefined ? undefined : Math.min(Number(digits), maxWaitSeconds);
  }
  return undefined;
}
