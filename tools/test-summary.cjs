/** Prints what the test runner's own JSON says, as one line: `N passed, N failed`. Exit code 1 unless tests ran and none failed. */

const { readFileSync } = require('node:fs');

let passed = 0;
let failed = 1; // a run without results did not pass
try {
  const { numPassedTests, numFailedTests, numFailedTestSuites, success } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
  passed = numPassedTests;
  // A file that could not even be loaded has no failed test, and fails the run all the same.
  failed = Math.max(numFailedTests, success ? 0 : Math.max(1, numFailedTestSuites));
} catch (error) {
  console.log(`no test results: ${error.message}`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = passed > 0 && failed === 0 ? 0 : 1;
