// Relations between the limits of exec sessions, and with those of the log.
import { describe, expect, it } from "@jest/globals";
import { execLimits } from "../../../../lib/exec/sessions/session-limits.ts";
import { limits } from "../../../../protocol/index.ts";

describe("the limits of exec sessions", () => {
  it("wait for an exit no longer than the shortest call waits", () => {
    expect(execLimits.earlyExitMs).toBeLessThan(execLimits.minYieldMs);
    expect(execLimits.drainMs).toBeLessThanOrEqual(execLimits.earlyExitMs);
  });

  it("have defaults within their bounds", () => {
    const { minYieldMs, writeYieldMs, startYieldMs, maxYieldMs, minPollMs, pollYieldMs, maxPollMs } = execLimits;
    for (const byDefault of [writeYieldMs, startYieldMs]) {
      expect(byDefault).toBeGreaterThanOrEqual(minYieldMs);
      expect(byDefault).toBeLessThanOrEqual(maxYieldMs);
    }
    expect(pollYieldMs).toBeGreaterThanOrEqual(minPollMs);
    expect(pollYieldMs).toBeLessThanOrEqual(maxPollMs);
  });

  it("return 10,000 tokens by default, and never more than the log retains", () => {
    expect(execLimits.outputBytes).toBe(10_000 * execLimits.bytesPerToken);
    expect(execLimits.outputBytes).toBeLessThanOrEqual(execLimits.maxOutputBytes);
    expect(execLimits.maxOutputBytes).toBeLessThanOrEqual(limits.retainedBytes);
  });
});
