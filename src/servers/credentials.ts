/** The secrets of MCP servers: named in the registry, kept elsewhere, read anew for every use so that they can be rotated. */

import { readFile } from 'node:fs/promises';
import { environmentVariable } from '../config/config.js';
import type { ServerEndpoint } from '../mcp/server-endpoint.js';
import type { ServerProgram } from '../mcp/server-program.js';
import type { CredentialRef } from './credential.schema.js';
import type { HttpServerEntry, StdioServerEntry } from './registry.js';

/** A server's credential is named in the registry but is not there. Nothing was sent. */
export class CredentialFault extends Error {
  override readonly name = 'CredentialFault';
  readonly code = 'credential_missing';
}

/**
 * Where a registered server is, and as whom it is spoken to right now.
 *
 * @throws {CredentialFault} see {@link bearerOf}
 */
export async function endpointOf(entry: Pick<HttpServerEntry, 'id' | 'url' | 'digest' | 'credential'>): Promise<ServerEndpoint> {
  const bearer = await bearerOf(entry);
  const { id, url, digest: key } = entry;
  return { id, url, key, ...(bearer !== undefined && { bearer }) };
}

/**
 * What of the worker's environment every child gets: enough to find programs, and to know whose home and which language it is. Nothing
 * else, for the rest holds Parley's own keys.
 */
const inherited = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

/**
 * The program of a registered stdio server, its secrets read.
 *
 * @throws {CredentialFault} when a variable or a file that its environment refers to is empty or absent
 */
export async function programOf(entry: StdioServerEntry): Promise<ServerProgram> {
  const env: Record<string, string> = {};
  for (const name of inherited) {
    const value = environmentVariable(name);
    if (value !== undefined) env[name] = value;
  }
  for (const [name, value] of Object.entries(entry.env)) {
    env[name] = typeof value === 'string' ? value : await secretOf(entry.id, value);
  }
  const { id, digest: key, command, args, cwd, policy } = entry;
  return { id, key, command, args, env, maxResultBytes: policy.maxResultBytes, ...(cwd !== undefined && { cwd }) };
}

/**
 * @returns undefined for a server without credential
 * @throws {CredentialFault} when the variable or the file is empty or absent
 */
export async function bearerOf(entry: Pick<HttpServerEntry, 'id' | 'credential'>): Promise<string | undefined> {
  return entry.credential && (await secretOf(entry.id, entry.credential));
}

async function secretOf(server: string, reference: CredentialRef): Promise<string> {
  const text =
    'env' in reference ? environmentVariable(reference.env) : await readFile(reference.file, 'utf8').catch(() => undefined);
  const secret = text?.trim();
  if (secret === undefined || secret === '') throw new CredentialFault(`the credential of server ${server} cannot be read`);
  return secret;
}
