import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{domain,workflows,activities,src,tools,examples,bench}/**/*.spec.ts', 'test/**/*.{spec,test}.ts'],
    environment: 'node',
    globalSetup: ['test/harness/global-setup.ts'],
    // End-to-end files wait on processes of their own more than they compute; more of them at once would starve two cores.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default', 'json', './test/harness/promise-reporter.ts'],
    outputFile: { json: '.parley/test-results.json' },
  },
});
