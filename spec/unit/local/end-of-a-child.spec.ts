// When the pid of a child is released, and what happens to processes that outlive it.
import { afterEach, describe, expect, it } from "@jest/globals";
import { limits } from "../../../protocol/index.ts";
import type { FakeChild } from "../../support/fake-child.ts";
import { FakeHost } from "../../support/fake-supervisor.ts";
import { nextTurn } from "../../support/next-turn.ts";
import { closed, exited } from "../../support/transcript.ts";

let host: FakeHost;
afterEach(() => host.close());

/** Every check for survivors happens well within this time. */
const LOOKS_MS = 10_000;

describe("a stream that an unrelated process keeps open", () => {
  it("is closed when the whole tree was terminated and has ended", async () => {
    host = new FakeHost();
    const { process, child, events } = await host.start();
    await process.terminate({ graceMs: 0, scope: "tree" });
    child.exit("SIGKILL");
    host.clock.advance(limits.closeDeadlineMs - 1);
    expect(process.info.state).toBe("exited");
    host.clock.advance(1);
    expect([process.info.state, events.at(-1)]).toEqual(["closed", closed(2)]);
  });

  it("is closed when that is requested after the exit", async () => {
    host = new FakeHost();
    const { process, child } = await host.start();
    child.exit(0);
    host.clock.advance(10 * limits.closeDeadlineMs);
    expect(process.info.state).toBe("exited");
    await process.terminate({ graceMs: 0, scope: "tree" });
    host.clock.advance(limits.closeDeadlineMs);
    expect(process.info.state).toBe("closed");
  });

  it("is not closed while a part of the tree is left, nor if only the group was terminated", async () => {
    host = new FakeHost();
    const { process, child } = await host.start();
    child.survivors = true;
    await process.terminate({ graceMs: 60_000, scope: "tree" });
    child.exit("SIGTERM");
    host.clock.advance(10 * limits.closeDeadlineMs);
    expect(process.info.state).toBe("exited");
    const other = await host.start();
    await other.process.terminate({ graceMs: 0, scope: "group" });
    other.child.exit("SIGKILL");
    host.clock.advance(10 * limits.closeDeadlineMs);
    expect(other.process.info.state).toBe("exited");
  });

  it("is not closed while a lossless reader has not read what the process printed", async () => {
    host = new FakeHost({ limits: { retainedBytes: 100, chunkBytes: 10, mergeBelowBytes: 5 } });
    const { process, child } = await host.start();
    const reader = process.iterate({ delivery: "lossless" });
    for (let chunk = 0; chunk < 8; chunk += 1) child.output("0123456789");
    expect(child.calls).toEqual(["pause"]);
    await process.terminate({ graceMs: 0, scope: "tree" });
    child.exit("SIGKILL");
    host.clock.advance(10 * limits.closeDeadlineMs);
    expect(process.info.state).toBe("exited");
    for (let read = 0; read < 8; read += 1) await reader.next();
    expect(child.calls).toContain("resume");
    host.clock.advance(limits.closeDeadlineMs);
    expect(process.info.state).toBe("closed");
  });
});

describe("a child whose start was cancelled", () => {
  it("is searched for and killed again until nothing of its tree is left", async () => {
    host = new FakeHost();
    host.spawner.wait();
    const start = host.supervisor.start({ argv: ["/fake/program"], processId: "a" }).catch(() => undefined);
    await nextTurn();
    const process = await host.supervisor.attach("a");
    await process.terminate();
    host.spawner.go();
    await start;
    while (host.spawner.children.length === 0) await nextTurn();
    await nextTurn();
    const [child] = host.spawner.children as [FakeChild];
    child.survivors = true;
    child.exit("SIGKILL");
    child.end();
    host.clock.advance(100);
    expect(child.calls).toEqual(["SIGKILL tree", "SIGKILL tree", "SIGKILL tree"]);
    child.survivors = false;
    host.clock.advance(100);
    expect(child.calls.at(-1)).toBe("release");
  });
});

describe("a terminated process with survivors", () => {
  it("keeps its pid until they are killed, even if it is closed itself", async () => {
    host = new FakeHost();
    const { process, child } = await host.start();
    child.survivors = true;
    await process.terminate({ graceMs: 1000 });
    child.exit("SIGTERM");
    child.end();
    expect([process.info.state, child.calls]).toEqual(["closed", ["SIGTERM group", "SIGCONT group"]]);
    host.clock.advance(999);
    expect(child.calls).not.toContain("release");
    host.clock.advance(1);
    expect(child.calls).toEqual(["SIGTERM group", "SIGCONT group", "SIGKILL group"]);
    child.survivors = false;
    host.clock.advance(LOOKS_MS);
    expect(child.calls.at(-1)).toBe("release");
  });

  it("releases its pid as soon as they have exited by themselves", async () => {
    host = new FakeHost();
    const { process, child } = await host.start();
    child.survivors = true;
    await process.terminate({ graceMs: 60_000 });
    child.exit("SIGTERM");
    child.end();
    child.survivors = false;
    host.clock.advance(LOOKS_MS);
    expect(child.calls).toEqual(["SIGTERM group", "SIGCONT group", "release"]);
  });

  it("still kills them and releases its pid if it is removed before the grace is over", async () => {
    host = new FakeHost({ limits: { closedProcesses: 0 } });
    const { process, child } = await host.start();
    child.survivors = true;
    await process.terminate({ graceMs: 1000 });
    child.exit("SIGTERM");
    child.end();
    expect(process.info.state).toBe("removed");
    host.clock.advance(1000);
    child.survivors = false;
    host.clock.advance(LOOKS_MS);
    expect(child.calls).toContain("SIGKILL group");
    expect(child.calls.at(-1)).toBe("release");
  });

  it("releases its pid in the end if they cannot be killed, and reports that", async () => {
    host = new FakeHost();
    const { process, child } = await host.start();
    child.survivors = true;
    await process.terminate({ graceMs: 1000 });
    child.exit("SIGTERM");
    child.end();
    child.kill = () => {
      throw new Error("EPERM");
    };
    host.clock.advance(1000 + LOOKS_MS);
    expect(child.calls.at(-1)).toBe("release");
    expect(String(host.errors[0])).toBe("Error: EPERM");
  });

  it("is killed after its grace if SIGTERM could not be sent to all of them", async () => {
    host = new FakeHost();
    const { process, child } = await host.start();
    const kill = child.kill.bind(child);
    child.kill = (signal, scope) => {
      kill(signal, scope);
      if (signal === "SIGTERM") throw new Error("EPERM");
    };
    await expect(process.terminate({ graceMs: 1000 })).rejects.toThrow("EPERM");
    host.clock.advance(1000);
    expect(child.calls).toContain("SIGKILL group");
  });
});

describe("a supervisor that closes", () => {
  it("releases a child whose streams do not end, after the grace and a deadline", async () => {
    host = new FakeHost();
    const { child, events } = await host.start();
    const end = host.supervisor.close();
    host.clock.advance(limits.graceMs);
    child.exit("SIGKILL");
    host.clock.advance(limits.closeDeadlineMs);
    await end;
    expect(child.calls).toEqual(["SIGTERM tree", "SIGCONT tree", "SIGKILL tree", "release"]);
    const killed = { exitCode: null, signal: "SIGKILL", result: "terminated", reason: "terminate" } as const;
    expect(events).toEqual([exited(1, killed), closed(2)]);
  });

  it("removes closed processes, refuses starts, and arms no timer any more", async () => {
    host = new FakeHost();
    const { process, child } = await host.start();
    child.exit(0);
    child.end();
    await host.close();
    expect([process.info.state, await host.supervisor.list(), host.clock.armed]).toEqual(["removed", [], 0]);
    await expect(host.start()).rejects.toMatchObject({ code: "CLOSED" });
  });
});
