// Jest reporter whose one line is the tally: `N passed, N failed`, then `, N skipped` if any were. It is printed when the
// program ends, so that nothing follows it. A suite that could not be loaded counts as one failure, or a broken import
// would read as success.
import { writeSync } from "node:fs";

export default class TallyReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const tail = skipped > 0 ? `, ${skipped} skipped` : "";
    process.once("exit", () => writeSync(1, `${results.numPassedTests} passed, ${failed} failed${tail}\n`));
  }
}
