/** Every key Parley writes, in one place. The names are stored for years. Ids are encoded, so that no id can reach into another key. */

export class Keys {
  constructor(private readonly prefix: string) {}

  /** The life of this store; a wiped store gets another (design §4, ledger epoch). */
  epoch(): string {
    return this.key('epoch');
  }

  /** Integer: how many legs were begun in this life of the store. It only grows, so a smaller one has lost writes. */
  clock(): string {
    return this.key('clock');
  }

  /** Hash: every leg of one invocation, and the answers it used. */
  ledger(tenant: string, invocation: string): string {
    return this.key('ledger', tenant, invocation);
  }

  /** String: a leg's result that is too large for the history, sealed. */
  blob(tenant: string, invocation: string, leg: number): string {
    return this.key('blob', tenant, invocation, String(leg));
  }

  /** String: who was first seen with a requestState. Not by tenant: the point is to meet across tenants. */
  stateClaim(fingerprint: string): string {
    return this.key('state', fingerprint);
  }

  /** Stream. */
  audit(tenant: string): string {
    return this.key('audit', tenant);
  }

  /** Hash: an invocation's projection. */
  record(tenant: string, invocation: string): string {
    return this.key('record', tenant, invocation);
  }

  /** Sorted set, by name: a person's invocations. */
  recordsOf(tenant: string, person: string): string {
    return this.key('records-of', tenant, person);
  }

  /** Sorted set, by start: every invocation that is open, of all tenants. Members are workflow ids. */
  openRecords(): string {
    return this.key('open-records');
  }

  /** Pub/sub channel: the projection of this invocation changed. */
  changes(tenant: string, invocation: string): string {
    return this.key('changes', tenant, invocation);
  }

  /** Hash: one question to a person. */
  consent(tenant: string, consent: string): string {
    return this.key('consent', tenant, consent);
  }

  /** Sorted set, by name: what a person is asked right now. */
  openConsentsOf(tenant: string, subject: string): string {
    return this.key('open-consents-of', tenant, subject);
  }

  /** Sorted set, by opening: every consent that is open, of all tenants. Members are `<tenant>/<consent>`. */
  openConsents(): string {
    return this.key('open-consents');
  }

  /** String: JSON. */
  receipt(tenant: string, receipt: string): string {
    return this.key('receipt', tenant, receipt);
  }

  /** String: a server that operators hold. */
  serverHold(server: string): string {
    return this.key('hold-server', server);
  }

  /** String: a tenant that operators hold. */
  tenantHold(tenant: string): string {
    return this.key('hold-tenant', tenant);
  }

  /** String: a call was told a moment ago that its binding may be lost. */
  bindingDoubt(tenant: string, invocation: string): string {
    return this.key('binding-doubt', tenant, invocation);
  }

  /** Hash: the first POST under an Idempotency-Key, and its reply. */
  idempotency(tenant: string, actor: string, digest: string): string {
    return this.key('idempotency', tenant, actor, digest);
  }

  /** String: id of the Temporal namespace that holds the workflows of this store's calls. */
  temporalNamespace(): string {
    return this.key('temporal-namespace');
  }

  /** String: whose turn it is to reconcile. */
  reconcileTurn(): string {
    return this.key('reconcile-turn');
  }

  /** Hash: what the reconciler found wrong with calls that are alive, and what it did about it. */
  suspicions(): string {
    return this.key('suspicions');
  }

  /** String: JSON, the tools of a server that only workers can ask. */
  tools(serverDigest: string): string {
    return this.key('tools', serverDigest);
  }

  private key(...parts: string[]): string {
    return [this.prefix, ...parts.map(encodeURIComponent)].join(':');
  }
}

/** As SCAN takes it: every key of the kind that `key` is of, a key made of empty ids. */
export function patternOf(key: string): string {
  return `${key.replace(/:*$/, '').replaceAll(/[*?[\]\\^]/g, '\\$&')}:*`;
}

/** Whose ledger a key is. */
export function ownerOfLedger(key: string): { readonly tenant: string; readonly invocation: string } {
  const [tenant = '', invocation = ''] = key.split(':').slice(-2).map(decodeURIComponent);
  return { tenant, invocation };
}
