// How processes end: result, reason, timeouts, terminate, and closing the whole backend.
import { expect, it } from "@jest/globals";
import { firstValueFrom, lastValueFrom, map, toArray } from "rxjs";
import type { ExitedEvent, ProcessSpec } from "../../protocol/index.ts";
import { end, exitOf, printed } from "../support/outcome.ts";
import { fixture, sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { isAlive } from "../support/system-facts.ts";
import { exited } from "../support/transcript.ts";
import { allGone, numbersIn } from "../support/trees.ts";
import { describeBackends } from "./backends.ts";

/** Prints the pids of a background job and of a daemon in a session of its own, then runs `rest`. */
function family(rest: string): string[] {
  return sh(`sleep 1000 & echo $!; setsid sh -c 'echo $$; exec sleep 1000' & ${rest}`);
}

const TWO_PIDS = /^\d+\n\d+\n/;

describeBackends("ending", (subject) => {
  const { supports, needs, start } = subject;
  const endOf = async (spec: ProcessSpec) => exitOf(await start(spec));

  needs("reportsSignals").each<[string, string, Partial<ExitedEvent>]>([
    ["code 0", "exit 0", {}],
    ["another code", "exit 255", { exitCode: 255, result: "error" }],
    ["SIGKILL to itself", "kill -9 $$", { exitCode: null, signal: "SIGKILL", result: "error", reason: "signal" }],
    ["SIGPIPE to itself", "kill -PIPE $$", { exitCode: null, signal: "SIGPIPE", result: "error", reason: "signal" }],
  ])("reports an exit by %s, on pipes and on a tty", async (_what, script, facts) => {
    expect(await endOf({ argv: sh(script) })).toEqual(exited(1, facts));
    expect(await endOf({ argv: sh(script), tty: true })).toEqual(exited(1, facts));
  });

  needs("signals", "reportsSignals")("does not report an exit by another signal as terminated", async () => {
    const process = await start({ argv: ["sleep", "1000"] });
    await process.signal("SIGTERM");
    const facts = { exitCode: null, signal: "SIGTERM", result: "error", reason: "signal" } as const;
    expect(await exitOf(process)).toEqual(exited(1, facts));
  });

  needs("terminatesWithGrace")("terminates a process with SIGTERM first", async () => {
    const process = await start({ argv: ["sleep", "1000"] });
    expect(await process.terminate()).toEqual({ running: true });
    const facts = { exitCode: null, signal: "SIGTERM", result: "terminated", reason: "terminate" } as const;
    expect(await exitOf(process)).toEqual(exited(1, facts));
  });

  needs("terminatesWithGrace")("reports an exit after terminate as terminated, also with code 0", async () => {
    const process = await start({ argv: fixture("on-signal.mjs", "SIGTERM=0") });
    await printed(process, "ready\n");
    await process.terminate();
    expect(await exitOf(process)).toEqual(exited(3, { result: "terminated", reason: "terminate" }));
  });

  needs("terminatesWithGrace")("kills a process that ignores SIGTERM after the grace", async () => {
    const process = await start({ argv: fixture("on-signal.mjs", "SIGTERM=ignore") });
    await printed(process, "ready\n");
    expect(await process.terminate({ graceMs: 500 })).toEqual({ running: true });
    const facts = { exitCode: null, signal: "SIGKILL", result: "terminated", reason: "terminate" } as const;
    expect(await exitOf(process)).toEqual(exited(3, facts));
    expect(await printed(process, "SIGTERM\n")).toBe("ready\nSIGTERM\n");
  });

  it("kills a process at once when the grace is 0", async () => {
    const process = await start({ argv: fixture("on-signal.mjs", "SIGTERM=0") });
    await printed(process, "ready\n");
    await process.terminate({ graceMs: 0 });
    const facts = { ...subject.killed, result: "terminated", reason: "terminate" } as const;
    expect(await exitOf(process)).toEqual(exited(2, facts));
  });

  needs("terminatesWithGrace")("shortens a running grace by a second terminate", async () => {
    const process = await start({ argv: fixture("on-signal.mjs", "SIGTERM=ignore") });
    await printed(process, "ready\n");
    await process.terminate({ graceMs: 1_000_000 });
    await printed(process, "SIGTERM\n");
    expect(await process.terminate({ graceMs: 0 })).toEqual({ running: true });
    expect((await exitOf(process)).signal).toBe("SIGKILL");
  });

  needs("terminatesWithGrace")("ends a stopped process within its grace", async () => {
    const process = await start({ argv: fixture("on-signal.mjs", "SIGTERM=6") });
    await printed(process, "ready\n");
    await process.signal("SIGSTOP");
    await process.terminate();
    expect(await exitOf(process)).toMatchObject({ exitCode: 6, reason: "terminate" });
  });

  it("answers that nothing runs when it terminates what exited, and changes nothing", async () => {
    const process = await start({ argv: sh("exit 3") });
    await end(process);
    expect(await process.terminate()).toEqual({ running: false });
    expect(await process.terminate({ graceMs: 0, scope: "tree" })).toEqual({ running: false });
    expect(await exitOf(process)).toEqual(exited(1, { exitCode: 3, result: "error" }));
  });

  it("reports the same exit in every way and every time", async () => {
    const process = await start({ argv: sh("exit 9") });
    const expected = exited(1, { exitCode: 9, result: "error" });
    const early = firstValueFrom(process.exit$);
    await end(process);
    const found = await subject.backend.attach(process.id);
    const answers = await Promise.all([early, exitOf(process), exitOf(process), exitOf(found)]);
    expect(answers).toEqual([expected, expected, expected, expected]);
    const listed = (await subject.backend.list()).find(({ processId }) => processId === process.id);
    for (const facts of [await process.read(), process.info, found.info, listed]) {
      expect(facts).toMatchObject({ exitCode: 9, signal: null });
    }
  });

  needs("timeouts")("ends the whole tree at its timeout", async () => {
    const process = await start({ argv: family("wait"), timeoutMs: 1500 });
    const pids = numbersIn(await printed(process, TWO_PIDS));
    const facts = { exitCode: null, signal: "SIGTERM", result: "terminated", reason: "timeout" } as const;
    expect(await exitOf(process)).toMatchObject(facts);
    await allGone(...pids);
    await end(process);
  });

  needs("timeouts")("reports a timeout also when the program then exits with 0", async () => {
    const process = await start({ argv: fixture("on-signal.mjs", "SIGTERM=0"), timeoutMs: 1500 });
    await printed(process, "ready\n");
    expect(await exitOf(process)).toMatchObject({ exitCode: 0, signal: null, result: "terminated", reason: "timeout" });
  });

  needs("timeouts")("does not end a process that exits before its timeout", async () => {
    expect(await endOf({ argv: ["true"], timeoutMs: 2 ** 31 - 1 })).toEqual(exited(1));
  });

  needs("terminatesWithGrace")("terminates the tree when it is disposed of", async () => {
    const process = await start({ argv: family("wait") });
    const pids = numbersIn(await printed(process, TWO_PIDS));
    await process[Symbol.asyncDispose]();
    expect(process.info.state).toBe("closed");
    await allGone(...pids);
  });

  if (supports.killAfterExit) {
    it("kills the rest of the group after the grace when only the leader has obeyed SIGTERM", async () => {
      const [node, stubborn] = fixture("on-signal.mjs");
      const argv = sh('"$1" "$2" SIGTERM=ignore & echo $!; wait', node as string, stubborn as string);
      const process = await start({ argv });
      const pids = numbersIn(await printed(process, "ready\n"));
      await process.terminate({ graceMs: 300 });
      expect((await exitOf(process)).signal).toBe("SIGTERM");
      await allGone(...pids);
      await end(process);
    });

    it("reaches with an explicit scope the processes that an exited one left behind", async () => {
      const process = await start({ argv: sh("sleep 1000 & echo $!") });
      const pids = numbersIn(await printed(process, "\n"));
      await exitOf(process);
      expect(pids.map(isAlive)).toEqual([true]);
      expect(await process.terminate({ scope: "group" })).toEqual({ running: false });
      await end(process);
      await allGone(...pids);
    });
  }

  needs("terminatesWithGrace")(
    "ends all processes with their trees when the backend closes, and refuses new starts",
    async () => {
      const backend = await subject.create();
      const states = lastValueFrom(
        backend.changes$.pipe(
          map(({ state }) => state),
          toArray(),
        ),
      );
      const processes = [
        await backend.start({ argv: family("wait") }),
        await backend.start({ argv: fixture("on-signal.mjs", "SIGTERM=ignore", "SIGHUP=ignore"), tty: true }),
      ];
      const [first, second] = processes as [(typeof processes)[0], (typeof processes)[0]];
      const pids = numbersIn(await printed(first, TWO_PIDS));
      await printed(second, "ready");
      const ends = processes.map((process) => exitOf(process));
      await backend.close({ graceMs: 300 });
      expect((await Promise.all(ends)).map(({ signal, reason }) => [signal, reason])).toEqual([
        ["SIGTERM", "terminate"],
        ["SIGKILL", "terminate"],
      ]);
      await allGone(...pids, ...processes.flatMap(({ info }) => info.pid ?? []));
      expect((await states).filter((state) => state === "closed")).toHaveLength(2);
      expect(await refusal(backend.start({ argv: ["true"] }))).toEqual({ code: "CLOSED", data: {} });
      await backend.close();
    },
  );

  it("cancels pending starts when the backend closes", async () => {
    const backend = await subject.create();
    const starting = refusal(backend.start({ argv: ["true"], env: { PATH: `${"/-:".repeat(5_000)}/bin:/usr/bin` } }));
    await backend.close();
    expect(await starting).toEqual({ code: "START_CANCELLED", data: {} });
  });
});
