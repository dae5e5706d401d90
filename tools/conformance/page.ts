/** docs/conformance.md: what the suite said, and of what it did not say anything, why. The same run writes the same page. */

import { notApplicable } from './expectations.js';
import { revision } from './referee.js';
import type { Verdict } from './verdict.js';

/**
 * @param servers of the server that the tests call
 * @param others  scenarios of the suite that were not run
 */
export function conformancePage(
  version: string,
  verdicts: readonly Verdict[],
  servers: readonly Verdict[],
  others: readonly string[],
): string {
  const skipped = verdicts.flatMap(({ scenario, skipped: checks }) => checks.map((each) => ({ scenario, ...each })));
  return [
    '<!-- Written by `npm run conformance`. Do not edit. -->',
    '# Conformance',
    [
      `The official conformance suite of MCP, \`@modelcontextprotocol/conformance\` ${version}, judges Parley as a client of revision ${revision}: it plays a server`,
      'for each scenario and looks at what arrives. What arrives is sent by Parley: every call is made, and every question answered, through the REST API',
      'of one API and one worker, on a real Temporal and Redis.',
    ].join('\n'),
    [
      '`npm run conformance` makes this page, and fails when a check does not hold, or is skipped without a reason. With `-- --check`, as in CI, it writes',
      'nothing, and also fails when this page is not what it would write.',
    ].join('\n'),
    '## Results',
    tableOf(verdicts),
    '## Checks that the suite skips',
    table(
      ['scenario', 'check', 'why'],
      skipped.map(({ scenario, check, reason }) => [`\`${scenario}\``, `\`${check}\``, reason]),
    ),
    '## Scenarios that do not apply',
    table(
      ['scenarios', 'why'],
      notApplicable.map(({ scenarios, reason }) => [
        others
          .filter((name) => scenarios.test(name))
          .map((name) => `\`${name}\``)
          .join(' '),
        reason,
      ]),
    ),
    '## The server that Parley is tested with',
    [
      "The suite's scenarios for servers do not apply to Parley, which is none. What they expect of a server that asks for input is offered by",
      '`examples/conformance-server`, whose every tool and prompt is called through Parley by `test/real-servers.test.ts`. That it is such a server is',
      'judged by the suite, without Parley:',
    ].join('\n'),
    tableOf(servers),
  ]
    .join('\n\n')
    .concat('\n');
}

function tableOf(verdicts: readonly Verdict[]): string {
  return table(
    ['scenario', 'checks that hold', 'result'],
    verdicts.map(({ scenario, passed, judged, faults }) => [
      `\`${scenario}\``,
      `${passed} of ${judged}`,
      faults.length === 0 ? 'as expected' : `**${faults.length} faults**`,
    ]),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'--|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
