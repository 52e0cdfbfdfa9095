// Jest reporter whose one line, the last on stdout, is the tally: `N passed, N failed`, then `, N skipped` if any were.
// A suite that could not be loaded counts as one failure, or a broken import would read as success.
export default class TallyReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const tail = skipped > 0 ? `, ${skipped} skipped` : "";
    process.stdout.write(`${results.numPassedTests} passed, ${failed} failed${tail}\n`);
  }
}
