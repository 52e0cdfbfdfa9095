// One fact of a log, now or later.
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
  it("tells it when it happens, once", () => {
    const log = new ReplayLog();
    const got = record(log);
    print(log, "text");
    expect(got).toEqual([]);
    exit(log);
    print(log, "late");
    log.appendClosed();
    expect(got).toEqual([exited(2), "done"]);
  });

  it("tells it at once when it happened before, even when everything around it is gone", () => {
    const log = new ReplayLog({ retainedEvents: 1 });
    exit(log);
    print(log, "late");
    expect(record(log)).toEqual([exited(1), "done"]);
  });

  it("tells it once to a subscriber that causes an append", () => {
    const log = new ReplayLog();
    const got = record(log, () => log.headSeq < 5 && print(log, "again"));
    exit(log);
    expect(got).toEqual([exited(1), "done"]);
  });

  it("fails when it can never be known", () => {
    const log = new ReplayLog();
    const early = record(log);
    log.fail(cancelled);
    expect([early, record(log)]).toEqual([[cancelled], [cancelled]]);
  });

  it("tells an exit that was known before the failure", () => {
    const log = new ReplayLog();
    exit(log);
    log.fail(cancelled);
    expect(record(log)).toEqual([exited(1), "done"]);
  });
});
