/** Types of the gate (design §6); the gate itself follows. */
import type { RoundInput } from './form.js';

export const gateCodes = ['gate_placeholder'] as const;
export type GateCode = (typeof gateCodes)[number];

export interface GatedRound {
  readonly inputs: readonly RoundInput[];
  /** Exactly as the server sent it; absent stays absent, and '' is a state. */
  readonly requestState?: string;
}

export type GateVerdict =
  | { readonly is: 'round'; readonly round: GatedRound }
  | { readonly is: 'refused'; readonly code: GateCode; readonly key?: string; readonly path?: string };
