/** Prints which tests prove which promise, and fails a whole run in which a promise is not proven by a test that passed. */

import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { citedIn, promises } from '../promises.js';

export default class PromiseReporter implements Reporter {
  private vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const proofs = new Map<string, number>(Object.keys(promises).map((id) => [id, 0]));
    const unknown = new Set<string>();
    for (const module of modules) {
      if (!module.moduleId.endsWith('.test.ts')) continue;
      for (const test of module.children.allTests()) {
        for (const id of citedIn(test.fullName)) {
          if (!proofs.has(id)) unknown.add(id);
          else if (test.result().state === 'passed') proofs.set(id, (proofs.get(id) ?? 0) + 1);
        }
      }
    }
    if (this.isPartial()) return;
    console.log('\nPromises, and how many passing tests prove each:');
    for (const [id, count] of proofs) console.log(`  ${id} ${count}  ${promises[id as keyof typeof promises]}`);
    const unproven = [...proofs].filter(([, count]) => count === 0).map(([id]) => id);
    if (unproven.length > 0) fail(`no passing test proves ${unproven.join(', ')}`);
    if (unknown.size > 0) fail(`tests cite unknown promises: ${[...unknown].join(', ')}`);
  }

  /** A run of some files or titles proves only some promises. */
  private isPartial(): boolean {
    const [, , ...args] = process.argv;
    const named = args.some((arg) => arg !== 'run' && !arg.startsWith('-'));
    return named || this.vitest?.config.testNamePattern !== undefined;
  }
}

function fail(message: string): void {
  console.error(`promises: ${message}`);
  process.exitCode = 1;
}
