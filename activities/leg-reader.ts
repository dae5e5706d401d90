/**
 * What a leg came to: the wire's outcome, read against the tool's definition and the gate (design §5 steps 5 and 6), with every content
 * sealed. The raw result is judged, never what an SDK made of it.
 */

import type { BoundCall, FailureDetail, LegOutcome, OpenableRound, ResultRef, Sealed } from '../domain/call.js';
import type { ConsentView } from '../domain/consent.js';
import { digestOf } from '../domain/digest.js';
import { gate, type GatedRound } from '../domain/gate.js';
import type { Reason } from '../domain/outcome.js';
import type { Policy } from '../domain/policy.js';
import { isObject } from '../domain/server-json.js';
import type { Sealer } from '../src/crypto/sealer.js';
import type { Ledger } from '../src/ledger/ledger.js';
import type { WireOutcome } from '../src/mcp/leg-sender.js';
import { connectionLost } from '../src/mcp/connection.js';
import { outputFault } from '../src/mcp/output.js';
import type { LegInput } from './contract.js';
import { scope, type PlannedLeg } from './leg-planner.js';
import { untilStored } from './until-stored.js';

/** A larger result stays in the store, so that histories stay far below Temporal's 2 MB per payload. */
const maxInlineBytes = 128 * 1024;
/** A server's error data or misfit result beyond this is left out of the problem. */
const maxDetailBytes = 64 * 1024;

/**
 * Characters. A state that says whose it is carries proof of its integrity (MCP: servers MUST protect it), and 128 bits of that alone take
 * 22 characters.
 */
const minOwnedStateLength = 32;

const invalidParams = -32602;
const headerMismatch = -32020;
const missingClientCapability = -32021;

export interface ReadLeg {
  readonly outcome: LegOutcome;
  /** A result too large for the history. */
  readonly blob?: Sealed;
  /**
   * What a complete result comes to instead when it does not fit the tool's output schema. Asked once the outcome is in the ledger: a
   * process that dies over a monstrous schema must not take the reply with it. A call resolved after such a death is `completed`.
   */
  readonly fault?: () => LegOutcome | undefined;
}

export class LegReader {
  constructor(
    private readonly sealer: Sealer,
    private readonly ledger: Ledger,
  ) {}

  async read(input: LegInput, plan: PlannedLeg, wire: WireOutcome): Promise<ReadLeg> {
    const { call } = input;
    switch (wire.is) {
      case 'answered':
        return this.answered(input, plan, wire.result);
      case 'error':
        return { outcome: this.error(input, wire) };
      case 'rejected': {
        const detail = { message: wire.message, httpStatus: wire.status };
        const isCredential = wire.status === 401;
        return {
          outcome: isCredential ? this.turnedAway(call, 'credential', detail) : this.failed(call, 'http_rejected', detail),
        };
      }
      case 'never_sent':
        if (wire.proof === connectionLost && input.connection !== undefined) {
          return { outcome: { is: 'binding_lost', part: 'connection_lost' } };
        }
        return { outcome: { is: 'never_sent', proof: wire.proof } };
      case 'unknown':
        return { outcome: { is: 'unknown', reason: wire.reason } };
    }
    return wire satisfies never;
  }

  private async answered(input: LegInput, plan: PlannedLeg, result: Record<string, unknown>): Promise<ReadLeg> {
    // A missing resultType means complete (MCP 2026-07-28, ResultType).
    const { resultType = 'complete' } = result;
    if (resultType === 'complete') return this.complete(input, plan, result);
    const { call } = input;
    const verdict = gate(call.method, result, call.capabilities, call.policy);
    if (verdict.is === 'refused') {
      const { code: reason, is, ...where } = verdict;
      return { outcome: { is, reason, ...where } };
    }
    return { outcome: await this.asked(input, plan, verdict.round) };
  }

  private complete(input: LegInput, plan: PlannedLeg, result: Record<string, unknown>): ReadLeg {
    const { call, leg } = input;
    const bytes = bytesOf(result);
    if (bytes === Infinity)
      return { outcome: this.failed(call, 'output_invalid', { message: 'the result is nested too deeply' }) };
    const sealed = this.sealer.seal(result, scope(call, `result.${leg}`));
    const small = bytes <= maxInlineBytes;
    const ref: ResultRef = small ? { in: 'history', sealed, bytes } : { in: 'store', leg, bytes };
    return {
      outcome: { is: 'completed', result: ref, isError: result['isError'] === true },
      ...(!small && { blob: sealed }),
      fault: () => {
        const message = plan.tool && outputFault(plan.tool, result);
        return message === undefined ? undefined : this.failed(call, 'output_invalid', { message, result });
      },
    };
  }

  private async asked(input: LegInput, plan: PlannedLeg, round: GatedRound): Promise<LegOutcome> {
    const { call, leg } = input;
    const { requestState, roots } = round;
    const stateDigest = requestState === undefined ? undefined : this.sealer.fingerprint(requestState);
    if (requestState !== undefined && !(await this.claim(call, requestState))) {
      return { is: 'refused', reason: 'state_foreign' };
    }
    const view = round.inputs.length === 0 ? undefined : viewOf(call, plan, round);
    const open: OpenableRound = {
      number: leg,
      ...(view !== undefined && {
        view: this.sealer.seal(view, scope(call, `view.${leg}`)),
        viewDigest: digestOf(view),
      }),
      ...(roots !== undefined && { roots: this.sealer.seal(roots, scope(call, `roots.${leg}`)) }),
      ...(requestState !== undefined && {
        state: this.sealer.seal(requestState, scope(call, `state.${leg}`)),
      }),
      ...(stateDigest !== undefined && { stateDigest }),
    };
    return { is: 'asked', round: open };
  }

  /**
   * A state that was already given to somebody else is a server mixing up its users (design §4). A short one is nobody's: a server may
   * well answer everyone with `page 2`.
   */
  private async claim(call: BoundCall, requestState: string): Promise<boolean> {
    if (requestState.length < minOwnedStateLength) return true;
    const fingerprints = this.sealer.fingerprints(JSON.stringify([call.server, requestState]));
    let mine = true;
    await untilStored(async () => {
      mine = await this.ledger.claimState(fingerprints, call.tenant, call.subject, call.policy.callDeadlineMs);
    });
    return mine;
  }

  private error(input: LegInput, wire: Extract<WireOutcome, { is: 'error' }>): LegOutcome {
    const { call, round } = input;
    if (round?.state !== undefined && refusesState(call.policy, wire)) return { is: 'state_expired' };
    const { message, code: rpcCode, data } = wire;
    if (wire.httpStatus === 401) return this.turnedAway(call, 'credential', { message, rpcCode, httpStatus: 401, data });
    // The specification has it sent with HTTP 400, before the request is looked at; with any other status it proves nothing.
    if (rpcCode === headerMismatch && wire.httpStatus === 400)
      return this.turnedAway(call, 'headers', { message, rpcCode, data });
    if (rpcCode !== missingClientCapability) return this.failed(call, 'server_error', { message, rpcCode, data });
    const requiredCapabilities = capabilitiesIn(data);
    return this.failed(call, 'missing_client_capability', { message, rpcCode, requiredCapabilities, data });
  }

  private turnedAway(call: BoundCall, why: 'credential' | 'headers', detail: FailureDetail): LegOutcome {
    return { is: 'turned_away', why, detail: this.sealDetail(call, detail) };
  }

  private failed(call: BoundCall, reason: Reason, detail: FailureDetail): LegOutcome {
    return { is: 'failed', reason, detail: this.sealDetail(call, detail) };
  }

  private sealDetail(call: BoundCall, detail: FailureDetail): Sealed {
    const large = (value: unknown) => bytesOf(value) > maxDetailBytes;
    const { data, result, ...rest } = detail;
    const kept = {
      ...rest,
      ...(data !== undefined && !large(data) && { data }),
      ...(result !== undefined && !large(result) && { result }),
    };
    return this.sealer.seal(kept, scope(call, 'problem'));
  }
}

/** By the sign that MCP's own libraries give, or by one that the server's owner has named. */
function refusesState(policy: Policy, { code, message, data }: Extract<WireOutcome, { is: 'error' }>): boolean {
  const reason = isObject(data) ? data['reason'] : undefined;
  if (code === invalidParams && reason === 'invalid_request_state') return true;
  return (policy.stateRefusals ?? []).some(
    (sign) =>
      sign.code === code &&
      (sign.reason === undefined || sign.reason === reason) &&
      (sign.message === undefined || sign.message === message),
  );
}

/** More would be no list of capabilities but a text. */
const maxCapabilities = 32;
const maxCapabilityLength = 128;

/** Names of what a -32021 asks for, as `elicitation.url` where it asks for a part of one; the server's words, and at most 32 of them. */
function capabilitiesIn(data: unknown): string[] {
  const required = isObject(data) ? data['requiredCapabilities'] : undefined;
  if (!isObject(required)) return [];
  return Object.entries(required)
    .flatMap(([name, parts]) => {
      const named = isObject(parts) ? Object.keys(parts) : [];
      return named.length === 0 ? [name] : named.map((part) => `${name}.${part}`);
    })
    .filter((name) => name.length <= maxCapabilityLength)
    .slice(0, maxCapabilities);
}

/** Of the value as JSON; Infinity when it is nested too deeply to be written as JSON, which a parser reads all the same. */
function bytesOf(value: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(value) ?? '');
  } catch {
    return Infinity;
  }
}

/** The tool's annotations are hints of the server; what it leaves out has the specification's default. */
function viewOf(call: BoundCall, plan: PlannedLeg, round: GatedRound): ConsentView {
  const hints = plan.tool?.annotations ?? {};
  const reads = call.method !== 'tools/call';
  return {
    server: { id: plan.server.id, title: plan.server.title, origin: plan.server.origin },
    call: { method: call.method, name: call.name, arguments: plan.params['arguments'] ?? null },
    effect: {
      readOnly: hints.readOnlyHint ?? reads,
      destructive: hints.destructiveHint ?? !reads,
      idempotent: hints.idempotentHint ?? false,
      openWorld: hints.openWorldHint ?? true,
    },
    inputs: round.inputs,
  };
}
