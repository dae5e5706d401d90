/** Services are killed and wiped here: never the ones that somebody runs. */
export function forgetServices(): void {
  delete process.env['TEMPORAL_ADDRESS'];
  delete process.env['REDIS_URL'];
}
