/** ISO 8601 durations of fixed length. Years and months have none and are refused. */

const shape =
  /^P(?=.)(?:(?<weeks>\d{1,4})W|(?:(?<days>\d{1,5})D)?(?:T(?=\d)(?:(?<hours>\d{1,6})H)?(?:(?<minutes>\d{1,8})M)?(?:(?<seconds>\d{1,9}(?:\.\d{1,9})?)S)?)?)$/;

const unitMs = { weeks: 604_800_000, days: 86_400_000, hours: 3_600_000, minutes: 60_000, seconds: 1_000 } as const;

/**
 * @param text such as `P3D`, `PT2M` or `PT0.2S`
 * @returns whole milliseconds, rounded; undefined when the text is no duration of days, hours, minutes and seconds, or of weeks
 */
export function parseDurationMs(text: string): number | undefined {
  const parts = shape.exec(text)?.groups;
  if (parts === undefined) return undefined;
  let totalMs = 0;
  for (const [unit, ms] of Object.entries(unitMs)) totalMs += Number(parts[unit] ?? 0) * ms;
  return Math.round(totalMs);
}
