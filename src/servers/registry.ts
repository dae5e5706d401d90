/**
 * The MCP servers that may be called (parley.servers.yaml): who they are, where, with which credential, and under which policy. Read
 * once at start; a change needs a restart, and is then noticed by every parked call as a lost binding (design §4).
 */

import { readFile } from 'node:fs/promises';
import { digestOf } from '../../domain/digest.js';
import type { Policy } from '../../domain/policy.js';
import { policyOf } from './policy.schema.js';
import { type CredentialRef, type WrittenServer, registrySchema } from './registry.schema.js';
import { type Complaint, YamlSource } from './yaml-source.js';

export interface ServerEntry {
  readonly id: string;
  /** The registry's own words for people, unlike the title a server gives itself. */
  readonly title: string;
  readonly transport: 'streamable-http';
  readonly url: string;
  readonly origin: string;
  readonly credential?: CredentialRef;
  readonly policy: Policy;
  readonly policyDigest: string;
  /** Of id, transport, URL and credential reference: what a call is bound to. The secret itself may change, the title too. */
  readonly digest: string;
}

export class Registry {
  private readonly entries: ReadonlyMap<string, ServerEntry>;

  private constructor(entries: readonly ServerEntry[]) {
    this.entries = new Map(entries.map((entry) => [entry.id, entry]));
  }

  /** @throws {RegistryFault} with every complaint about the file */
  static async read(file: string): Promise<Registry> {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new RegistryFault(file, [{ line: 1, path: '', message: `the file cannot be read (${error.code ?? 'unknown'})` }]);
    });
    return Registry.parse(text, file);
  }

  /** @param file how complaints call the text */
  static parse(text: string, file: string): Registry {
    const source = new YamlSource(text);
    if (source.faults.length > 0) throw new RegistryFault(file, source.faults);
    const written = registrySchema.safeParse(source.value());
    if (!written.success)
      throw new RegistryFault(
        file,
        written.error.issues.flatMap((issue) => complaintsAbout(issue, source)),
      );
    const repeated = repetitionsIn(written.data.servers, source);
    if (repeated.length > 0) throw new RegistryFault(file, repeated);
    return new Registry(written.data.servers.map(entryOf));
  }

  get(id: string): ServerEntry | undefined {
    return this.entries.get(id);
  }

  /** In the order of the file. */
  all(): readonly ServerEntry[] {
    return [...this.entries.values()];
  }
}

export class RegistryFault extends Error {
  override readonly name = 'RegistryFault';

  constructor(
    file: string,
    readonly complaints: readonly Complaint[],
  ) {
    const inOrder = complaints.toSorted((one, other) => one.line - other.line);
    super(inOrder.map(({ line, path, message }) => `${file}:${line}: ${path === '' ? '' : `${path}: `}${message}`).join('\n'));
  }
}

function entryOf({ policy: written, credential, ...server }: WrittenServer): ServerEntry {
  const policy = policyOf(written);
  const reference = credential === undefined ? {} : { credential };
  return {
    ...server,
    ...reference,
    origin: new URL(server.url).origin,
    policy,
    policyDigest: digestOf(policy),
    digest: digestOf({ id: server.id, transport: server.transport, url: server.url, ...reference }),
  };
}

interface Issue {
  readonly code?: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
}

function complaintsAbout(issue: Issue, source: YamlSource): Complaint[] {
  if (issue.code !== 'unrecognized_keys') return [source.complain(issue.path, issue.message)];
  return (issue.keys ?? []).map((key) => source.complain([...issue.path, key], 'is not known here'));
}

function repetitionsIn(servers: readonly WrittenServer[], source: YamlSource): Complaint[] {
  const firstOf = new Map<string, number>();
  return servers.flatMap(({ id }, index) => {
    const first = firstOf.get(id);
    if (first === undefined) firstOf.set(id, index);
    return first === undefined ? [] : [source.complain(['servers', index, 'id'], `is the id of servers[${first}] already`)];
  });
}
