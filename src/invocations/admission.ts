/** Whether a call may be started at all: everything that can be said no to before anything is stored. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type Principal, shutOut } from '../../domain/binding.js';
import type { Method } from '../../domain/call.js';
import { parseDurationMs } from '../../domain/duration.js';
import { present } from '../../domain/server-json.js';
import { narrow, type Policy, type PolicyNarrowing } from '../../domain/policy.js';
import { type Actor, isPrincipal, mayActFor } from '../auth/actor.js';
import { bodyDigestOf } from '../http/repeatable-replies.js';
import { Catalog, CatalogFault } from '../mcp/catalog.js';
import { Problem } from '../problems/problem.js';
import { CredentialFault, endpointOf } from '../servers/credentials.js';
import { type HttpServerEntry, livesOnWorker, Registry, type ServerEntry } from '../servers/registry.js';
import type { StartBody } from './invocations.contract.js';

export interface AdmittedCall {
  readonly server: ServerEntry;
  readonly subject: string;
  readonly method: Method;
  /** Tool or prompt name, or resource URI. */
  readonly name: string;
  readonly params: StartBody['params'];
  readonly paramsDigest: string;
  readonly policy: Policy;
}

/** A list of tools this old still tells a typing error from a tool; the worker checks again before it sends. */
const catalogAgeMs = 60_000;
/** A tool that is not on that list may be new: the list is read again, but not more often than this. */
const refreshedCatalogAgeMs = 2_000;
/** A server that is slow to say what it offers must not hold up the reply: a start is durable without it. */
const catalogPatienceMs = 2_000;

@Injectable()
export class Admission {
  constructor(
    private readonly registry: Registry,
    private readonly catalog: Catalog,
  ) {}

  /** @throws {Problem} `subject_not_allowed`, `server_unknown`, `server_not_allowed`, `text_not_unicode`, `arguments_too_large`, `tool_unknown` */
  async admit(actor: Actor, body: StartBody): Promise<AdmittedCall> {
    const subject = body.subject ?? actor.subject;
    if (!isPrincipal(subject) || !mayActFor(actor, subject)) throw new Problem('subject_not_allowed');
    const server = this.registry.getFor(actor.tenant, body.server);
    if (server === undefined) throw new Problem('server_unknown');
    requireAccess(server, { tenant: actor.tenant, subject, requester: actor.subject });

    const paramsDigest = bodyDigestOf(body.params, '/params');
    const bytes = Buffer.byteLength(JSON.stringify(body.params));
    if (bytes > server.policy.maxArgumentsBytes) throw new Problem('arguments_too_large');
    // Some servers are spoken to by workers alone, so whether it has the tool is theirs to judge.
    if (body.method === 'tools/call' && !livesOnWorker(server)) await this.requireTool(server, body.params.name);

    const { method, params } = body;
    return {
      server,
      subject,
      method,
      name: method === 'resources/read' ? body.params.uri : body.params.name,
      params,
      paramsDigest,
      policy: narrow(server.policy, narrowingOf(body.policy)),
    };
  }

  private async requireTool(server: HttpServerEntry, name: string): Promise<void> {
    const patience = new AbortController();
    const late = sleep(catalogPatienceMs, true, { signal: patience.signal }).catch(() => true);
    const mayExist = await Promise.race([this.mayExist(server, name), late]);
    patience.abort();
    if (!mayExist) throw new Problem('tool_unknown');
  }

  /** @returns true also when the server cannot be asked right now: it may be back in a moment, so that is the worker's to judge */
  private async mayExist(server: HttpServerEntry, name: string): Promise<boolean> {
    try {
      return (await this.offers(server, name, catalogAgeMs)) || (await this.offers(server, name, refreshedCatalogAgeMs));
    } catch (error) {
      if (error instanceof CatalogFault || error instanceof CredentialFault) return true;
      throw error;
    }
  }

  private async offers(server: HttpServerEntry, name: string, maxAgeMs: number): Promise<boolean> {
    const { tools } = await this.catalog.describe(await endpointOf(server), maxAgeMs);
    return tools.has(name);
  }
}

function requireAccess({ access }: ServerEntry, principal: Principal): void {
  const who = shutOut(access, principal);
  if (who !== undefined) throw new Problem('server_not_allowed', { detail: who });
}

function narrowingOf(wish: StartBody['policy']): PolicyNarrowing {
  const { maxRounds, maxPolls, legDeadline, roundDeadline, callDeadline, allow } = wish ?? {};
  return {
    ...(maxRounds !== undefined && { maxRounds }),
    ...(maxPolls !== undefined && { maxPolls }),
    ...durationMember('legDeadlineMs', legDeadline),
    ...durationMember('roundDeadlineMs', roundDeadline),
    ...durationMember('callDeadlineMs', callDeadline),
    ...(allow !== undefined && { allow: present(allow) }),
  };
}

function durationMember(name: Exclude<keyof PolicyNarrowing, 'allow'>, text: string | undefined): PolicyNarrowing {
  const ms = text === undefined ? undefined : parseDurationMs(text);
  return ms === undefined ? {} : { [name]: ms };
}
