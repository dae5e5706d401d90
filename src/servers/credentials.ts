/** The bearer tokens of MCP servers: named in the registry, kept elsewhere, read anew for every leg so that they can be rotated. */

import { readFile } from 'node:fs/promises';
import { environmentVariable } from '../config/config.js';
import type { ServerEndpoint } from '../mcp/server-endpoint.js';
import type { ServerEntry } from './registry.js';

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
export async function endpointOf(entry: Pick<ServerEntry, 'id' | 'url' | 'digest' | 'credential'>): Promise<ServerEndpoint> {
  const bearer = await bearerOf(entry);
  return { id: entry.id, url: entry.url, key: entry.digest, ...(bearer !== undefined && { bearer }) };
}

/**
 * @returns undefined for a server without credential
 * @throws {CredentialFault} when the variable or the file is empty or absent
 */
export async function bearerOf(entry: Pick<ServerEntry, 'id' | 'credential'>): Promise<string | undefined> {
  const { credential } = entry;
  if (credential === undefined) return undefined;
  const text =
    'env' in credential ? environmentVariable(credential.env) : await readFile(credential.file, 'utf8').catch(() => undefined);
  const bearer = text?.trim();
  if (bearer === undefined || bearer === '') throw new CredentialFault(`the credential of server ${entry.id} cannot be read`);
  return bearer;
}
