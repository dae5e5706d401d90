/** What the API and the worker share: configuration, keys, the store and everything that stands on it. Classes are their own tokens. */

import { type DynamicModule, type FactoryProvider, Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Audit } from './audit/audit.js';
import { Config, ConfigFault } from './config/config.js';
import { KeyRingCodec } from './crypto/codec.js';
import { Receipts, ReceiptFault } from './crypto/receipts.js';
import { readRings } from './crypto/rings.js';
import { Sealer } from './crypto/sealer.js';
import { Holds } from './holds/holds.js';
import { Idempotency } from './idempotency/idempotency.js';
import { Ledger } from './ledger/ledger.js';
import { ReplicaWait } from './ledger/replica-wait.js';
import { Log } from './log/log.js';
import { Catalog } from './mcp/catalog.js';
import { Changes } from './records/changes.js';
import { Records } from './records/records.js';
import { ToolLists } from './servers/published-tools.js';
import { Registry } from './servers/registry.js';
import { assertDurable } from './store/durability.js';
import { Keys } from './store/keys.js';
import { connectRedis, duplicateRedis, type Redis } from './store/redis.js';
import { REDIS } from './store/redis.token.js';

const RINGS = Symbol('rings');

type Deps = FactoryProvider['inject'];
const provide = <T>(token: FactoryProvider['provide'], inject: Deps, useFactory: (...deps: never[]) => T): FactoryProvider => ({
  provide: token,
  inject: inject ?? [],
  useFactory: useFactory as FactoryProvider['useFactory'],
});

const stands = [REDIS, Keys];
const providers = [
  provide(Registry, [Config], ({ serversFile }: Config) => Registry.read(serversFile)),
  provide(RINGS, [Config], readRings),
  provide(KeyRingCodec, [RINGS], ({ codec }: ReturnType<typeof readRings>) => new KeyRingCodec(codec)),
  provide(Sealer, [RINGS], ({ seal }: ReturnType<typeof readRings>) => new Sealer(seal)),
  provide(Receipts, [Config], receiptsOf),
  provide(REDIS, [Config, Log], connect),
  provide(Keys, [Config], ({ redis }: Config) => new Keys(redis.prefix)),
  provide(Ledger, [...stands, Config], ledgerOf),
  provide(Holds, stands, (redis: Redis, keys: Keys) => new Holds(redis, keys)),
  provide(
    Audit,
    [...stands, Config],
    (redis: Redis, keys: Keys, { auditRetentionMs }: Config) => new Audit(redis, keys, { retentionMs: auditRetentionMs }),
  ),
  provide(
    Records,
    [...stands, Config],
    (redis: Redis, keys: Keys, { retentionMs, auditRetentionMs }: Config) =>
      new Records(redis, keys, { retentionMs, auditRetentionMs }),
  ),
  provide(Changes, stands, (redis: Redis, keys: Keys) => new Changes(redis, keys)),
  provide(Idempotency, stands, (redis: Redis, keys: Keys) => new Idempotency(redis, keys)),
  provide(ToolLists, stands, (redis: Redis, keys: Keys) => new ToolLists(redis, keys)),
  provide(Catalog, [], () => new Catalog()),
];

/** Closes what was opened here, after the listener and the workers are done. */
@Injectable()
class Closing implements OnApplicationShutdown {
  constructor(
    private readonly changes: Changes,
    private readonly catalog: Catalog,
    private readonly ledger: Ledger,
    @Inject(REDIS) private readonly redis: Redis,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.changes.close();
    await this.catalog.close();
    this.ledger.close();
    this.redis.destroy();
  }
}

@Module({})
export class CoreModule {
  static with(config: Config, log: Log): DynamicModule {
    const given = [
      { provide: Config, useValue: config },
      { provide: Log, useValue: log },
    ];
    return {
      module: CoreModule,
      global: true,
      providers: [...given, ...providers, Closing],
      exports: [Config, Log, ...providers.map(({ provide: token }) => token).filter((token) => token !== RINGS)],
    };
  }
}

/** Waiting for replicas holds up whatever else goes over the connection: it has one of its own, or a leg that waits would hold up the next. */
async function ledgerOf(redis: Redis, keys: Keys, { redis: { replicas, replicaTimeoutMs: timeoutMs } }: Config): Promise<Ledger> {
  if (replicas === 0) return new Ledger(redis, keys);
  return new Ledger(redis, keys, new ReplicaWait(await duplicateRedis(redis), { replicas, timeoutMs }));
}

async function connect({ redis: { url }, development }: Config, log: Log): Promise<Redis> {
  const redis = await connectRedis(url.reveal(), log);
  try {
    await assertDurable(redis, { development, log });
    return redis;
  } catch (error) {
    redis.destroy();
    throw error;
  }
}

async function receiptsOf({ receiptKey }: Config): Promise<Receipts> {
  try {
    return await Receipts.fromJwk(receiptKey.reveal());
  } catch (error) {
    if (error instanceof ReceiptFault) throw new ConfigFault([`PARLEY_RECEIPT_KEY: ${error.message}`]);
    throw error;
  }
}
