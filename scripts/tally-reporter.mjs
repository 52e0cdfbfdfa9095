// Jest reporter that prints one line: `N passed, N failed`, and `, N skipped` if any were. Printed at exit, so that it is the
// last line. A suite that cannot be loaded counts as one failure; otherwise a broken import would look like success.
import { writeSync } from "node:fs";

export default class TallyReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const tail = skipped > 0 ? `, ${skipped} skipped` : "";
    process.once("exit", () => writeSync(1, `${results.numPassedTests} passed, ${failed} failed${tail}\n`));
  }
}
