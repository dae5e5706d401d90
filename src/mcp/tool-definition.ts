/** A tool as its server describes it, and the digest a call is bound to. */

import type { Tool } from '@modelcontextprotocol/client';
import { digestOf } from '../../domain/digest.js';
import { present } from '../../domain/server-json.js';

export type ToolDefinition = Tool;

/**
 * Digest of the words and schemas that a person or a policy has relied on (design §4).
 *
 * @throws {DigestFault} `lone_surrogate`; never for tools that came through the catalog
 */
export function toolDigest(tool: ToolDefinition): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return digestOf(present({ name, title, description, inputSchema, outputSchema, annotations }));
}
