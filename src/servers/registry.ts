/**
 * The MCP servers that may be called (parley.servers.yaml): who they are, where, with which credential, and under which policy. Read
 * once at start; a change needs a restart, and is then noticed by every parked call as a lost binding (design §4).
 */

import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Access, isOpenTo } from '../../domain/binding.js';
import { digestOf } from '../../domain/digest.js';
import type { Policy } from '../../domain/policy.js';
import { policyOf } from './policy.schema.js';
import { type CredentialRef, type WrittenServer, registrySchema } from './registry.schema.js';
import type { WrittenEnvironment } from './stdio.schema.js';
import { type Complaint, YamlSource } from './yaml-source.js';

interface Registered {
  readonly id: string;
  /** The registry's own words for people, unlike the title a server gives itself. */
  readonly title: string;
  /** Where it is, for people. */
  readonly origin: string;
  readonly policy: Policy;
  readonly policyDigest: string;
  /** Who may use it; absent: everybody. No part of what a call is bound to, so that a change loses the calls of those alone whom it shuts out. */
  readonly access?: Access;
  /**
   * Of id, transport, protocol, URL or command line, and references to secrets: what a call is bound to. A secret itself may change, the title
   * too.
   */
  readonly digest: string;
}

export interface HttpServerEntry extends Registered {
  readonly transport: 'streamable-http';
  /** Absent: 2026-07-28. */
  readonly protocol?: never;
  readonly url: string;
  readonly credential?: CredentialRef;
}

/** A server of MCP 2025-11-25, which asks while a call is pending: a worker holds a session for every call. */
export interface LegacyServerEntry extends Omit<HttpServerEntry, 'protocol'> {
  readonly protocol: '2025-11-25';
}

/** A program that a worker starts and speaks to over its standard input and output. */
export interface StdioServerEntry extends Registered {
  readonly transport: 'stdio';
  readonly protocol?: never;
  readonly command: string;
  readonly args: readonly string[];
  /** The child's environment beyond the little it inherits: texts, and references to secrets. */
  readonly env: WrittenEnvironment;
  readonly cwd?: string;
}

export type ServerEntry = HttpServerEntry | LegacyServerEntry | StdioServerEntry;

/** Whether its calls live on a connection that one worker holds; the API speaks to no such server. */
export function livesOnWorker(entry: ServerEntry): entry is LegacyServerEntry | StdioServerEntry {
  return entry.transport === 'stdio' || entry.protocol !== undefined;
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

  /** As {@link get}, for a tenant: a server that it may not use does not exist for it. */
  getFor(tenant: string, id: string): ServerEntry | undefined {
    const entry = this.entries.get(id);
    return entry !== undefined && isOpenTo(entry.access, tenant) ? entry : undefined;
  }

  /** As {@link all}, for a tenant. */
  allFor(tenant: string): readonly ServerEntry[] {
    return this.all().filter(({ access }) => isOpenTo(access, tenant));
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

function entryOf(written: WrittenServer): ServerEntry {
  const policy = policyOf(written.policy);
  const { access } = written;
  const unbound = { title: written.title, policy, policyDigest: digestOf(policy), ...(access !== undefined && { access }) };
  if (written.transport === 'stdio') {
    const { policy: _, title: _title, access: _access, protocol: _protocol, ...bound } = written;
    // Arguments and environment may hold what is not for everyone's eyes; the program's name says enough.
    return { ...bound, ...unbound, origin: `stdio:${basename(written.command)}`, digest: digestOf(bound) };
  }
  const { policy: _, title: _title, access: _access, credential, protocol, ...rest } = written;
  // What is not said is not in the digest.
  const bound = { ...rest, ...(credential !== undefined && { credential }), ...(protocol !== undefined && { protocol }) };
  return { ...bound, ...unbound, origin: new URL(written.url).origin, digest: digestOf(bound) };
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
