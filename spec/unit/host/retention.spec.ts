// How long closed processes are retained: by time, by number and by size, observed from outside.
import { afterEach, describe, expect, it } from "@jest/globals";
import { type Limits, limits } from "../../../protocol/index.ts";
import { FakeHost } from "../../support/fake-supervisor.ts";

let host: FakeHost;
afterEach(() => host.close());

function hostWith(overrides: Partial<Limits> = {}): FakeHost {
  host = new FakeHost({ limits: overrides });
  return host;
}

/** Runs a process to its end. */
async function run(processId: string, text = ""): Promise<void> {
  const { child } = await host.start({ processId });
  if (text !== "") child.output(text);
  child.exit(0);
  child.end();
}

const ids = async () => (await host.supervisor.list()).map(({ processId }) => processId);

describe("a closed process", () => {
  it("is removed after the retention time, and its id is free again", async () => {
    const { clock } = hostWith();
    await run("a");
    clock.advance(limits.closedRetentionMs - 1);
    expect(await ids()).toEqual(["a"]);
    await expect(host.start({ processId: "a" })).rejects.toMatchObject({ code: "PROCESS_EXISTS" });
    clock.advance(1);
    expect(await ids()).toEqual([]);
    await run("a");
    expect(await ids()).toEqual(["a"]);
  });

  it("is retained from its end on, not from its exit", async () => {
    const { clock } = hostWith();
    const { child } = await host.start({ processId: "a" });
    child.exit(0);
    clock.advance(10 * limits.closedRetentionMs);
    expect(await ids()).toEqual(["a"]);
    child.end();
    clock.advance(limits.closedRetentionMs - 1);
    expect(await ids()).toEqual(["a"]);
    clock.advance(1);
    expect(await ids()).toEqual([]);
  });

  it("is removed early, the oldest first, if there are too many", async () => {
    hostWith({ closedProcesses: 2 });
    for (const id of ["a", "b", "c"]) await run(id);
    expect(await ids()).toEqual(["b", "c"]);
  });

  it("loses its output, the largest first, if all together retain too much, and keeps its end", async () => {
    hostWith({ closedBytes: 25, eventOverheadBytes: 0 });
    await run("large", "0123456789012345");
    for (const id of ["a", "b"]) await run(id, "0123456789");
    expect(await ids()).toEqual(["large", "a", "b"]);
    const process = await host.supervisor.attach("large");
    const read = await process.read();
    expect(read).toMatchObject({ chunks: [], gap: { firstSeq: 1, lastSeq: 1, bytes: 16 }, exitCode: 0, closed: true });
    expect((await (await host.supervisor.attach("a")).read()).chunks).toHaveLength(1);
  });

  it("keeps its output for a lossless reader that has not read it", async () => {
    hostWith({ closedBytes: 12, eventOverheadBytes: 0 });
    const { process, child } = await host.start({ processId: "read" });
    const reader = process.iterate({ delivery: "lossless" });
    child.output("0123456789");
    child.exit(0);
    child.end();
    await run("a", "012345");
    expect((await process.read()).chunks).toHaveLength(1);
    await reader.return();
    await run("b", "0123");
    expect((await process.read()).gap).toEqual({ type: "gap", firstSeq: 1, lastSeq: 1, bytes: 10 });
  });

  it("no longer counts once it was removed", async () => {
    const { clock } = hostWith({ closedProcesses: 2, closedBytes: 20, eventOverheadBytes: 0 });
    for (const id of ["a", "b"]) await run(id, "0123456789");
    clock.advance(limits.closedRetentionMs);
    for (const id of ["c", "d"]) await run(id, "0123456789");
    expect(await ids()).toEqual(["c", "d"]);
    expect((await (await host.supervisor.attach("c")).read()).chunks).toHaveLength(1);
  });

  it("is unknown to its handles after its removal, but its log can still be read", async () => {
    const { clock } = hostWith();
    const { process, child, events } = await host.start({ processId: "a", pipeStdin: true });
    child.output("text");
    child.exit(0);
    child.end();
    clock.advance(limits.closedRetentionMs);
    expect(process.info.state).toBe("removed");
    await expect(process.read()).rejects.toMatchObject({ code: "PROCESS_UNKNOWN" });
    expect(await process.write("x")).toBe("unknownProcess");
    expect(await process.terminate()).toEqual({ running: false });
    await process.signal("SIGTERM");
    const again: unknown[] = [];
    process.events().subscribe((event) => again.push(event));
    expect([again.length, again]).toEqual([3, events]);
  });
});

describe("the info of closed processes", () => {
  const labels = { note: "n".repeat(5_000) };

  it("is bounded in total: the oldest processes are removed early", async () => {
    const each = limits.processOverheadBytes + 10_000;
    hostWith({ closedInfoBytes: 3.5 * each });
    const { supervisor } = host;
    for (const processId of ["a", "b", "c", "d"]) {
      const { child } = await host.start({ processId, labels });
      child.exit(0);
      child.end();
    }
    expect((await supervisor.list()).map(({ processId }) => processId)).toEqual(["b", "c", "d"]);
  });

  it("is charged to the memory of all processes, and released with the process", async () => {
    // Not enough for a line in addition to so many labels.
    hostWith({ memoryBudgetBytes: 5 * 10_000 });
    for (let count = 0; count < 6; count += 1) await host.start({ labels });
    const { process, child, events } = await host.start({});
    child.output("one");
    host.clock.advance(1_000);
    child.output("two");
    host.clock.advance(1_000);
    expect(process.log.firstSeq).toBe(2);
    for (const each of host.spawner.children.slice(0, -1)) {
      each.exit(0);
      each.end();
    }
    host.clock.advance(limits.closedRetentionMs);
    child.output("three");
    host.clock.advance(1_000);
    expect(process.log.firstSeq).toBe(2);
    expect(events.length).toBe(3);
  });
});
