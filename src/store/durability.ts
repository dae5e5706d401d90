/** What the ledger asks of its store (design §7): a write that was answered survives, and nothing is evicted. */

import { StoreFault, type Redis, type StoreLog } from './redis.js';

const wanted = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' } as const;
type Setting = keyof typeof wanted;

/**
 * @param options.development warns instead of refusing
 * @throws {StoreFault} `not_durable`, or `config_unreadable` where CONFIG GET is forbidden: then nobody can vouch for the settings
 */
export async function assertDurable(
  redis: Redis,
  options: { readonly development: boolean; readonly log: StoreLog },
): Promise<void> {
  const fault = faultOf(await settingsOf(redis));
  if (fault === undefined) return;
  if (!options.development) throw fault;
  options.log.warn({ event: 'store_not_durable', code: fault.code }, `${fault.message} Accepted in development only.`);
}

async function settingsOf(redis: Redis): Promise<Record<string, string> | undefined> {
  try {
    return await redis.configGet(Object.keys(wanted));
  } catch (error) {
    if (error instanceof StoreFault) throw error;
    return undefined;
  }
}

function faultOf(settings: Record<string, string> | undefined): StoreFault | undefined {
  if (settings === undefined) {
    return new StoreFault(
      'config_unreadable',
      `The store does not answer CONFIG GET, so it cannot be shown to have ${linesFor(all)}.`,
    );
  }
  const wrong = all.filter((name) => settings[name] !== wanted[name]);
  if (wrong.length === 0) return undefined;
  return new StoreFault('not_durable', `The store may lose the ledger. Set in its configuration: ${linesFor(wrong)}.`);
}

const all = Object.keys(wanted) as Setting[];

function linesFor(names: readonly Setting[]): string {
  return names.map((name) => `CONFIG SET ${name} ${wanted[name]}`).join('; ');
}
