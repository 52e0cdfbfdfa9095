// Waiting for one fact of a log: there already, or still to come.
import { describe, expect, it } from "@jest/globals";
import { awaitEvent } from "../../../lib/log/await-event.ts";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import { cancelled, exit, print } from "../../support/log-writing.ts";
import { exited } from "../../support/transcript.ts";

function record(log: ReplayLog, onExit: () => void = () => undefined): unknown[] {
  const got: unknown[] = [];
  awaitEvent(log, (view) => view.exited).subscribe({
    next: (event) => {
      got.push(event);
      onExit();
    },
    error: (error) => got.push(error),
    complete: () => got.push("done"),
  });
  return got;
}

describe("awaiting an exit", () => {
  it("emits the exit once, when it happens", () => {
    const log = new ReplayLog();
    const got = record(log);
    print(log, "text");
    expect(got).toEqual([]);
    exit(log);
    print(log, "late");
    log.appendClosed();
    expect(got).toEqual([exited(2), "done"]);
  });

  it("emits an earlier exit at once, even if the events around it are evicted", () => {
    const log = new ReplayLog({ retainedEvents: 1 });
    exit(log);
    print(log, "late");
    expect(record(log)).toEqual([exited(1), "done"]);
  });

  it("emits the exit once to a subscriber that causes an append", () => {
    const log = new ReplayLog();
    const got = record(log, () => log.headSeq < 5 && print(log, "again"));
    exit(log);
    expect(got).toEqual([exited(1), "done"]);
  });

  it("fails if the exit can never be known", () => {
    const log = new ReplayLog();
    const early = record(log);
    log.fail(cancelled);
    expect([early, record(log)]).toEqual([[cancelled], [cancelled]]);
  });

  it("emits an exit that was known before the failure", () => {
    const log = new ReplayLog();
    exit(log);
    log.fail(cancelled);
    expect(record(log)).toEqual([exited(1), "done"]);
  });
});
