/** The shape of parley.servers.yaml. Messages say what is expected and never repeat what was found: it may be a secret. */

import { z } from 'zod';
import { isPrincipal } from '../auth/actor.js';
import { type CredentialRef, credentialSchema } from './credential.schema.js';
import { policySchema } from './policy.schema.js';
import { stdioMembers } from './stdio.schema.js';

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);
const idExpected = 'expected lower-case letters, digits, "-" and "_", at most 64 of them, starting with a letter';

/** Plain http would show the bearer and every answer to the network; only to the own machine is it allowed. */
const serverUrl = z.string({ error: 'expected a URL' }).superRefine((text, context) => {
  const complain = (message: string) => context.addIssue({ code: 'custom', message });
  if (!URL.canParse(text)) return complain('expected a URL such as https://mcp.example.com/mcp');
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && loopbackHosts.has(url.hostname)))
    complain('expected https (http only to localhost)');
  if (url.username !== '' || url.password !== '') complain('expected no user or password in the URL; use credential');
  if (url.hash !== '') complain('expected a URL without fragment');
});

/** Of every list; compared one by one, before every leg. */
const maxIds = 1000;

const idsExpected = { error: `expected a list of 1 to ${maxIds} ids, as they stand in tokens` };
/** One of nobody would read like one of everybody: who means everybody leaves the list out. */
const ids = z
  .array(z.string(idsExpected).refine(isPrincipal, idsExpected), idsExpected)
  .min(1, idsExpected)
  .max(maxIds, idsExpected);

const accessSchema = z.strictObject({
  tenants: ids.exactOptional(),
  subjects: ids.exactOptional(),
  requesters: ids.exactOptional(),
});

const common = {
  id: z.string({ error: idExpected }).regex(/^[a-z][a-z0-9_-]{0,63}$/, { error: idExpected }),
  title: z.string({ error: 'expected a name to show to people' }).min(1).max(200),
  access: accessSchema.exactOptional(),
  policy: policySchema.optional(),
};

/** What is spoken when nothing is said; it is no part of the digest. */
const presentProtocol = '2026-07-28';
const protocols = [presentProtocol, '2025-11-25'] as const;

const httpServerSchema = z.strictObject({
  ...common,
  transport: z.literal('streamable-http'),
  protocol: z
    .enum(protocols, { error: `expected ${protocols.map((each) => `'${each}'`).join(' or ')}` })
    .transform((protocol) => (protocol === presentProtocol ? undefined : protocol))
    .optional(),
  url: serverUrl,
  credential: credentialSchema.optional(),
});

/** A question of an earlier revision does not say which call it belongs to, and a process is shared by calls of all tenants. */
const stdioProtocol = z.literal(presentProtocol, { error: `expected '${presentProtocol}', which alone is spoken over stdio` });

const stdioServerSchema = z.strictObject({
  ...common,
  transport: z.literal('stdio'),
  protocol: stdioProtocol.transform(() => undefined).optional(),
  ...stdioMembers,
});

const serverSchema = z.discriminatedUnion('transport', [httpServerSchema, stdioServerSchema], {
  error: (issue) => (issue.code === 'invalid_union' ? 'expected streamable-http or stdio' : 'expected a server'),
});

/** Every one is a process of its own in every worker that is asked to call it. */
const maxStdioServers = 16;

export const registrySchema = z.strictObject(
  {
    servers: z
      .array(serverSchema, { error: 'expected a list of servers' })
      .refine((servers) => servers.filter(({ transport }) => transport === 'stdio').length <= maxStdioServers, {
        error: `expected at most ${maxStdioServers} servers of transport stdio`,
      }),
  },
  { error: (issue) => (issue.code === 'invalid_type' ? 'expected "servers:" and a list under it' : undefined) },
);

export type { CredentialRef };
export type WrittenServer = z.output<typeof serverSchema>;
