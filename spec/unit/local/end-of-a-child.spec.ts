// When the pid of a child is given up, and what happens to those who outlive it.
import { afterEach, describe, expect, it } from "@jest/globals";
import { limits } from "../../../protocol/index.ts";
import { FakeHost } from "../../support/fake-supervisor.ts";
import { closed, exited } from "../../support/transcript.ts";

let host: FakeHost;
afterEach(() => host.close());

/** Every look at survivors happens well within this. */
const LOOKS_MS = 10_000;

describe("a terminated process with survivors", () => {
  it("keeps its pid until they are killed, though it is closed itself", async () => {
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

  it("gives its pid up as soon as they are gone by themselves", async () => {
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

  it("still kills them and gives its pid up when it is removed before the grace is over", async () => {
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

  it("gives its pid up in the end when they cannot be killed, and says so", async () => {
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

  it("is killed after its grace when not everybody could be asked to end", async () => {
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
  it("lets go of a child whose streams nobody ends, after the grace and a deadline", async () => {
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

  it("removes what was closed, refuses to start anything, and arms no timer any more", async () => {
    host = new FakeHost();
    const { process, child } = await host.start();
    child.exit(0);
    child.end();
    await host.close();
    expect([process.info.state, await host.supervisor.list(), host.clock.armed]).toEqual(["removed", [], 0]);
    await expect(host.start()).rejects.toMatchObject({ code: "CLOSED" });
  });
});
