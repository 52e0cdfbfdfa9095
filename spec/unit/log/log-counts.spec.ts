// Counters of logs: printed output, retained or not, and each gap delivered to a reader.
import { describe, expect, it } from "@jest/globals";
import { observe } from "../../../lib/log/observe.ts";
import { read } from "../../../lib/log/read.ts";
import type { LogCounts } from "../../../lib/log/replay-log.ts";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { exit, print } from "../../support/log-writing.ts";

describe("the counts of logs", () => {
  const counted = () => {
    const counts: LogCounts = { bytes: { stdout: 0, stderr: 0, pty: 0 }, gaps: 0 };
    return { counts, make: () => new ReplayLog({ counts, retainedBytes: 4 }) };
  };

  it("are the bytes of each stream, evicted or not, of all logs together", () => {
    const { counts, make } = counted();
    const [one, other] = [make(), make()];
    for (const text of ["one", "two"]) print(one, text);
    print(one, "err", "stderr");
    print(other, "tty", "pty");
    expect(counts.bytes).toEqual({ stdout: 6, stderr: 3, pty: 3 });
  });

  it("are one gap for each reader and each loss, however it reads", async () => {
    const { counts, make } = counted();
    const log = make();
    for (const text of ["one", "two"]) print(log, text);
    expect(counts.gaps).toBe(0);
    observe(log, 0).subscribe();
    expect(counts.gaps).toBe(1);
    observe(log, 0).subscribe();
    expect(counts.gaps).toBe(2);
    observe(log, 1).subscribe();
    expect(counts.gaps).toBe(2);
    await read(log, {}, new FakeClock());
    expect(counts.gaps).toBe(3);
    exit(log);
  });
});
