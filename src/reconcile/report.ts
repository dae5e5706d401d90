/** What one run of the reconciler found, did and could not do. Ids and codes only: it is printed and logged. */

export interface Finding {
  /** Null when it is about all of them. */
  readonly tenant: string | null;
  readonly invocation: string | null;
  /** Stable, for programs; see docs/operations.md. */
  readonly code: string;
  readonly detail: string;
  /** Of a leg that nothing else is left of: which, and how long ago it was begun. */
  readonly leg?: number;
  readonly ageMs?: number;
}

export interface Report {
  /** How many open records and consents the store has, how many running workflows Temporal lists, and how many calls the ledger knows. */
  readonly seen: { readonly records: number; readonly consents: number; readonly workflows: number; readonly ledgers: number };
  readonly repaired: readonly Finding[];
  /** Somebody must look at these. */
  readonly left: readonly Finding[];
}

/** For people. */
export function textOf({ seen, repaired, left }: Report): string {
  const lines = (title: string, findings: readonly Finding[]) =>
    findings.length === 0 ? [] : [title, ...findings.map((each) => `  ${lineOf(each)}`)];
  return [
    `${seen.records} open calls and ${seen.consents} open consents in the store, ${seen.workflows} running workflows in Temporal, ${seen.ledgers} calls in the ledger`,
    ...lines('repaired:', repaired),
    ...lines('left:', left),
    left.length === 0 ? 'nothing is left' : `${left.length} left`,
  ].join('\n');
}

function lineOf({ tenant, invocation, code, detail }: Finding): string {
  return [code, ...(invocation === null ? [] : [`${tenant}/${invocation}`]), detail].join('  ');
}

/** How often each code was found: for one line of the log. */
export function countsOf(findings: readonly Finding[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { code } of findings) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}
