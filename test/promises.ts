/**
 * The seven promises (design §2), each with the id that tests cite in their titles as `[P1]`. A whole run fails when a promise has no
 * passing end-to-end test, see harness/promise-reporter.ts.
 */
export const promises = {
  P1: 'A leg is put on the wire at most once',
  P2: 'A parked call costs no process',
  P3: 'An answer is used once, for the round it was given to, by the person it was asked of',
  P4: 'requestState is opaque and secret',
  P5: "Nobody is asked to trust a server's words",
  P6: "Only a person's decision is an answer",
  P7: 'Every round is on the audit record before its retry is sent',
} as const;

export type PromiseId = keyof typeof promises;

/** Ids cited in a test's title. */
export function citedIn(title: string): string[] {
  return [...title.matchAll(/\[(P\d+)\]/g)].map(([, id]) => id ?? '');
}
