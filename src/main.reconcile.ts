/** `npm run reconcile`: one run by hand, beside whatever runs. Exits with 1 if something is left, and with 2 if it could not run. */

import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Config } from './config/config.js';
import { CoreModule } from './core.module.js';
import { openLog } from './log/log.js';
import { reasonOf } from './log/start-failure.js';
import { ReconcileModule } from './reconcile/reconcile.module.js';
import { Reconciler } from './reconcile/reconciler.js';
import { textOf } from './reconcile/report.js';
import { TemporalModule } from './temporal/temporal.module.js';

@Module({})
class HandModule {}

const usage = 'usage: npm run -s reconcile -- [--json] [--acknowledge TENANT/INVOCATION]…';

async function main(): Promise<number> {
  if (process.argv.includes('--help')) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  const { values } = parseArgs({
    options: { json: { type: 'boolean', default: false }, acknowledge: { type: 'string', multiple: true, default: [] } },
  });
  const config = Config.read('worker');
  // Standard output is for the report alone.
  const log = openLog({ process: config.process, logLevel: 'silent' });
  onStep('connecting to the store and to Temporal');
  const imports = [CoreModule.with(config, log), TemporalModule, ReconcileModule];
  const app = await NestFactory.createApplicationContext({ module: HandModule, imports }, { logger: false, abortOnError: false });
  try {
    const report = await app.get(Reconciler).run({ acknowledged: new Set(values.acknowledge), onStep });
    process.stdout.write(`${values.json ? JSON.stringify(report) : textOf(report)}\n`);
    return report.left.length === 0 ? 0 : 1;
  } finally {
    await app.close();
  }
}

/** On standard error: whoever waits can see for what. */
function onStep(what: string): void {
  process.stderr.write(`reconcile | ${what}\n`);
}

main().then(exitWith, (error: unknown) => {
  process.stderr.write(`${isOfCommandLine(error) ? error.message : reasonOf(error)}\n${usage}\n`);
  exitWith(2);
});

/** What a run that could not begin has left open must not keep the process; what it has said must be out first. */
function exitWith(code: number): void {
  process.stdout.write('', () => process.exit(code));
}

function isOfCommandLine(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}
