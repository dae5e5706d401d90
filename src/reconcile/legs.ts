/**
 * Legs that the ledger alone still knows. One that was begun and whose call has neither record nor workflow cannot be repaired, for nothing
 * says who is to be told: it is left until an operator acknowledges it. One that came back after its call was closed as indeterminate is put
 * on record; what the call ended as stays, for somebody may have acted on it.
 */

import { Injectable } from '@nestjs/common';
import type { FailureDetail } from '../../domain/call.js';
import { isInvocationId, type InvocationId } from '../../domain/ids.js';
import { maxLegDeadlineMs } from '../../domain/policy.js';
import { Audit } from '../audit/audit.js';
import { Config } from '../config/config.js';
import { Sealer } from '../crypto/sealer.js';
import { Ledger, type UnaccountedLeg } from '../ledger/ledger.js';
import { openName } from '../records/open-names.js';
import { Records } from '../records/records.js';
import type { Finding } from './report.js';
import { Workflows } from './workflows.js';

/** What became of a leg that was looked at; nothing where all is told already. */
export type LegFinding = { readonly is: 'repaired' | 'left'; readonly finding: Finding };

@Injectable()
export class Legs {
  constructor(
    private readonly ledger: Ledger,
    private readonly records: Records,
    private readonly audit: Audit,
    private readonly sealer: Sealer,
    private readonly workflows: Workflows,
    private readonly config: Config,
  ) {}

  /** How long a leg may take is the policy's of its call, which may be lost: the longest that there is. */
  unaccounted(): ReturnType<Ledger['unaccounted']> {
    return this.ledger.unaccounted(maxLegDeadlineMs + this.config.reconcile.graceMs);
  }

  /** @param acknowledged names of calls of which an operator knows */
  async look(leg: UnaccountedLeg, acknowledged: ReadonlySet<string>): Promise<LegFinding | undefined> {
    const { tenant, invocation, came } = leg;
    if (!isInvocationId(invocation)) return undefined;
    if (came !== undefined) return this.settle(leg, invocation, came);
    if (await this.isAccounted(tenant, invocation)) return undefined;
    return acknowledged.has(openName(tenant, invocation)) ? this.acknowledge(leg) : left(leg);
  }

  /** Records first: one that is open, or says that nobody knows, has been seen. A workflow that has completed has told its caller. */
  private async isAccounted(tenant: string, invocation: InvocationId): Promise<boolean> {
    const record = await this.records.get(tenant, invocation);
    if (record !== null) return record.status !== 'closed' || record.outcome === 'indeterminate';
    const { state } = await this.workflows.stateOf(tenant, invocation);
    return state.is === 'running' || state.is === 'completed';
  }

  private async settle({ tenant, leg }: UnaccountedLeg, invocation: InvocationId, came: string): Promise<LegFinding> {
    await this.audit.append(tenant, { type: 'leg_settled_late', invocation, leg, code: came });
    const record = await this.records.get(tenant, invocation);
    if (record !== null) {
      const detail: FailureDetail = { message: `leg ${leg} came back after the call was closed: ${came}` };
      await this.records.explain(record, this.sealer.seal(detail, { tenant, invocation, field: 'problem' }));
    }
    await this.ledger.end(tenant, invocation, 'settled_late');
    return { is: 'repaired', finding: { tenant, invocation, code: 'leg_settled_late', detail: `leg ${leg}: ${came}` } };
  }

  private async acknowledge({ tenant, invocation, leg }: UnaccountedLeg): Promise<LegFinding> {
    await this.audit.append(tenant, { type: 'reconciled', invocation, leg, code: 'leg_acknowledged', actor: 'operator' });
    await this.ledger.end(tenant, invocation, 'acknowledged');
    return { is: 'repaired', finding: { tenant, invocation, code: 'leg_acknowledged', detail: `leg ${leg}` } };
  }
}

function left({ tenant, invocation, leg, ageMs }: UnaccountedLeg): LegFinding {
  const detail = `leg ${leg} was begun ${Math.floor(ageMs / 60_000)} minutes ago and never came back, and no call says so`;
  return { is: 'left', finding: { tenant, invocation, code: 'leg_unaccounted', detail, leg, ageMs } };
}
