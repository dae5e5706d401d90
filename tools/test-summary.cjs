/** Prints what the test runner's own JSON says, as one line: `N passed, N failed`. Exit code 1 unless tests ran and none failed. */

const { readFileSync } = require('node:fs');

let passed = 0;
let failed = 1; // a run without results did not pass
try {
  const { numPassedTests, numFailedTests, testResults, success } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
  const broken = ({ status, assertionResults }) =>
    status === 'failed' && !assertionResults.some((each) => each.status === 'failed');
  passed = numPassedTests;
  // A file that cannot be loaded, or whose hook fails, has no failed test of its own.
  failed = numFailedTests + testResults.filter(broken).length;
  if (!success) failed = Math.max(1, failed);
} catch (error) {
  console.log(`no test results: ${error.message}`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = passed > 0 && failed === 0 ? 0 : 1;
