// Limits of a supervisor: what it keeps of a process, what it takes for its stdin, how it ends it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { run as runCommand } from "../../lib/exec/run/run.ts";
import { createSupervisor } from "../../lib/local/supervisor.ts";
import type { Process } from "../../lib/process/process.ts";
import type { Limits } from "../../protocol/index.ts";
import type { FakeHost, FakeProcess } from "../support/fake-supervisor.ts";
import { nextTurn } from "../support/next-turn.ts";
import { refusal } from "../support/refusal.ts";
import { fakeHost, later, type Row } from "./worlds.ts";

async function text(process: Process): Promise<string> {
  const { chunks } = await process.read();
  return Buffer.concat(chunks.map(({ chunk }) => chunk)).toString();
}

/** Output so far, chunk by chunk. */
function chunks({ events }: FakeProcess): string[] {
  return events.flatMap((event) => (event.type === "output" ? [Buffer.from(event.chunk).toString()] : []));
}

/** Runs a process to its end. */
async function run(host: FakeHost, processId: string, output = ""): Promise<Process> {
  const { process, child } = await host.start({ processId });
  if (output !== "") child.output(output);
  child.exit(0);
  child.end();
  return process;
}

const ids = async (host: FakeHost) => (await host.supervisor.list()).map(({ processId }) => processId);

/** Whether a promise is settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  await nextTurn();
  return settled;
}

/**
 * Runs a login shell with a snapshot in each scope, with a start-up file that runs `script` first; returns the output of the last
 * one, or a file of its home.
 */
async function withStartup(
  script: string,
  limits: Partial<Limits>,
  scopes: readonly string[] = ["a"],
  file?: string,
): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), "execwire-limits-"));
  const supervisor = createSupervisor({ limits, spawner: "posix" });
  later(() => supervisor.close({ graceMs: 0 }));
  later(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(join(home, ".bashrc"), `${script}\nSTATE="set up"; export STATE\n`);
  let output = "";
  for (const scope of scopes) {
    const result = await runCommand(supervisor, {
      argv: ["bash", "-lc", `echo "\${STATE-plain}"`],
      env: { HOME: home, PATH: "/usr/bin:/bin" },
      shellSnapshot: { scope },
    });
    output = result.stdout.text;
  }
  return file ? readFileSync(join(home, file), "utf8") : output;
}

export const processRows = {
  retainedBytes: [
    "the oldest output beyond it is lost",
    async () => {
      const { process, child } = await fakeHost({ retainedBytes: 4, mergeBelowBytes: 0 }).start();
      child.output("aaaa");
      child.output("bbbb");
      expect(await text(process)).toBe("bbbb");
    },
  ],
  retainedEvents: [
    "the oldest events beyond it are lost",
    async () => {
      const { process, child } = await fakeHost({ retainedEvents: 2, mergeBelowBytes: 0 }).start();
      for (const output of ["a", "b", "c"]) child.output(output);
      expect(await text(process)).toBe("bc");
    },
  ],
  chunkBytes: [
    "a larger read is split",
    async () => {
      const started = await fakeHost({ chunkBytes: 4 }).start();
      started.child.output("aaaabbbb");
      expect(chunks(started)).toEqual(["aaaa", "bbbb"]);
    },
  ],
  memoryBudgetBytes: [
    "all logs together keep no more",
    async () => {
      const host = fakeHost({ memoryBudgetBytes: 100, eventOverheadBytes: 0, mergeBelowBytes: 0 });
      const { process, child } = await host.start();
      child.output("aaaa");
      child.output("bbbb");
      expect(await text(process)).toBe("bbbb");
    },
  ],
  eventOverheadBytes: [
    "an event costs so much of the memory of all",
    async () => {
      const host = fakeHost({ memoryBudgetBytes: 100_000, eventOverheadBytes: 60_000, mergeBelowBytes: 0 });
      const { process, child } = await host.start();
      child.output("aaaa");
      child.output("bbbb");
      expect(await text(process)).toBe("bbbb");
    },
  ],
  processOverheadBytes: [
    "a process costs so much of the memory of all",
    async () => {
      const host = fakeHost({ memoryBudgetBytes: 100_000, processOverheadBytes: 200_000, mergeBelowBytes: 0 });
      const { process, child } = await host.start();
      child.output("aaaa");
      child.output("bbbb");
      expect(await text(process)).toBe("bbbb");
    },
  ],
  mergeWindowMs: [
    "a follower of a chunk waits so long",
    async () => {
      const host = fakeHost({ mergeWindowMs: 50 });
      const started = await host.start();
      started.child.output("a");
      started.child.output("b");
      host.clock.advance(49);
      expect(chunks(started)).toEqual(["a"]);
      host.clock.advance(1);
      expect(chunks(started)).toEqual(["a", "b"]);
    },
  ],
  unfollowedMergeWindowMs: [
    "the same while there is no reader",
    async () => {
      const host = fakeHost({ unfollowedMergeWindowMs: 500 });
      const process = await host.supervisor.start({ argv: ["/fake/program"] });
      const child = host.spawner.children[0];
      child?.output("a");
      child?.output("b");
      host.clock.advance(499);
      expect(process.log.headSeq).toBe(1);
      host.clock.advance(1);
      expect(process.log.headSeq).toBe(2);
    },
  ],
  mergeBelowBytes: [
    "a chunk of that size does not wait",
    async () => {
      const started = await fakeHost({ mergeBelowBytes: 4 }).start();
      for (const output of ["a", "bbbb", "c"]) started.child.output(output);
      expect(chunks(started)).toEqual(["a", "bbbb"]);
    },
  ],
  stdinQueueBytes: [
    "a write beyond it waits for room",
    async () => {
      const { process, child } = await fakeHost({ stdinQueueBytes: 4 }).start({ pipeStdin: true });
      await process.write("aaaa");
      const second = process.write("b");
      expect(await isSettled(second)).toBe(false);
      child.stdin?.take();
      expect(await second).toBe("accepted");
    },
  ],
  stdinParkedBytes: [
    "a write that would wait beyond it is refused",
    async () => {
      const { process } = await fakeHost({ stdinQueueBytes: 4, stdinParkedBytes: 4 }).start({ pipeStdin: true });
      await process.write("aaaa");
      void process.write("bbbb");
      expect(await refusal(process.write("c"))).toEqual({
        code: "LIMIT_EXCEEDED",
        data: { limit: "stdinParkedBytes" },
      });
    },
  ],
  writeIds: [
    "an older id is forgotten, and its write made again",
    async () => {
      const { process, child } = await fakeHost({ writeIds: 1 }).start({ pipeStdin: true });
      for (const writeId of ["a", "b", "b", "a"]) {
        const before = child.stdin?.received.length;
        await process.write(writeId, { writeId });
        if (child.stdin?.received.length !== before) child.stdin?.take();
      }
      expect(child.stdin?.received).toEqual(["a", "b", "a"]);
    },
  ],
  writeIdChars: [
    "a longer id is refused",
    async () => {
      const { process } = await fakeHost({ writeIdChars: 3 }).start({ pipeStdin: true });
      expect(await refusal(process.write("x", { writeId: "abcd" }))).toEqual(invalid("writeId"));
      expect(await process.write("x", { writeId: "abc" })).toBe("accepted");
    },
  ],
  liveProcesses: [
    "one more is refused",
    async () => {
      const host = fakeHost({ liveProcesses: 1 });
      await host.start();
      expect(await refusal(host.start())).toEqual(exceeded("liveProcesses"));
    },
  ],
  closedRetentionMs: [
    "a closed process is removed after it",
    async () => {
      const host = fakeHost({ closedRetentionMs: 10 });
      await run(host, "p");
      host.clock.advance(9);
      expect(await ids(host)).toEqual(["p"]);
      host.clock.advance(1);
      expect(await ids(host)).toEqual([]);
    },
  ],
  closedProcesses: [
    "the oldest closed process beyond it is removed",
    async () => {
      const host = fakeHost({ closedProcesses: 1 });
      for (const id of ["a", "b"]) await run(host, id);
      expect(await ids(host)).toEqual(["b"]);
    },
  ],
  closedBytes: [
    "a closed process loses its output beyond it",
    async () => {
      const process = await run(fakeHost({ closedBytes: 3 }), "p", "aaaa");
      expect(await text(process)).toBe("");
    },
  ],
  closedInfoBytes: [
    "the oldest closed process beyond it is removed",
    async () => {
      const host = fakeHost({ processOverheadBytes: 10_000, closedInfoBytes: 15_000 });
      for (const id of ["a", "b"]) await run(host, id);
      expect(await ids(host)).toEqual(["b"]);
    },
  ],
  graceMs: [
    "SIGKILL follows SIGTERM after it",
    async () => {
      const host = fakeHost({ graceMs: 70 });
      const { process, child } = await host.start();
      await process.terminate();
      host.clock.advance(69);
      expect(child.calls).not.toContain("SIGKILL group");
      host.clock.advance(1);
      expect(child.calls).toContain("SIGKILL group");
    },
  ],
  closeDeadlineMs: [
    "close() gives up what does not end after the grace and it",
    async () => {
      const host = fakeHost({ graceMs: 10, closeDeadlineMs: 30 });
      const { child } = await host.start();
      const closed = host.supervisor.close();
      host.clock.advance(39);
      expect(await isSettled(closed)).toBe(false);
      expect(child.calls).not.toContain("release");
      host.clock.advance(1);
      await closed;
      expect(child.calls).toContain("release");
    },
  ],
  unreadMs: [
    "a process does not wait longer for its starter to begin to read",
    async () => {
      const host = fakeHost({ retainedBytes: 4, unreadMs: 1_000, mergeBelowBytes: 0 });
      const process = await host.supervisor.start({ argv: ["/x"] });
      const [child] = host.spawner.children;
      for (const chunk of ["abcd", "efgh"]) child?.output(chunk);
      expect(child?.calls).toEqual(["pause"]);
      host.clock.advance(999);
      expect(child?.calls).toEqual(["pause"]);
      host.clock.advance(1);
      expect(child?.calls).toEqual(["pause", "resume"]);
      // The handle is alive until here.
      expect(process.id).toBeDefined();
    },
  ],
  pauseLeaseMs: [
    "a lossless reader that stops loses its hold after it",
    async () => {
      const host = fakeHost({ retainedBytes: 4, pauseLeaseMs: 1_000, mergeBelowBytes: 0 });
      const { process, child } = await host.start();
      process.iterate({ delivery: "lossless" });
      child.output("aaaa");
      child.output("bbbb");
      expect(child.calls).toEqual(["pause"]);
      host.clock.advance(500);
      expect(child.calls).toEqual(["pause"]);
      host.clock.advance(1_500);
      expect(child.calls).toEqual(["pause", "resume"]);
    },
  ],
  readWaitMs: [
    "a longer wait is refused",
    async () => {
      const { process } = await fakeHost({ readWaitMs: 1_000 }).start();
      expect(await refusal(process.read({ waitMs: 1_001 }))).toEqual(invalid("waitMs"));
    },
  ],
  infoArgvBytes: [
    "longer arguments are shown in part",
    async () => {
      const { process } = await fakeHost({ infoArgvBytes: 30 }).start({ argv: ["/fake/program", "x".repeat(100)] });
      expect(process.info).toMatchObject({ argv: ["/fake/program", "xxxxxxx"], argvOmitted: { bytes: 93 } });
    },
  ],
  labels: [
    "more labels are refused",
    async () => {
      expect(await refusal(fakeHost({ labels: 1 }).start({ labels: { a: "", b: "" } }))).toEqual(exceeded("labels"));
    },
  ],
  labelBytes: [
    "longer labels are refused",
    async () => {
      const start = fakeHost({ labelBytes: 3 }).start({ labels: { ab: "cd" } });
      expect(await refusal(start)).toEqual(exceeded("labelBytes"));
    },
  ],
  pathBytes: [
    "a longer directory is refused",
    async () => {
      expect(await refusal(fakeHost({ pathBytes: 3 }).start({ cwd: "/usr" }))).toEqual(exceeded("pathBytes"));
    },
  ],
  envPatterns: [
    "a policy with more patterns is refused",
    async () => {
      const envPolicy = { inherit: "none", exclude: ["A", "B"] } as const;
      expect(await refusal(fakeHost({ envPatterns: 1 }).start({ envPolicy }))).toEqual(invalid("envPolicy.exclude"));
    },
  ],
  sandboxRules: [
    "a policy with more rules is refused",
    async () => {
      const files = [
        { path: { named: "root" }, access: "read" },
        { path: { named: "tmp" }, access: "write" },
      ] as const;
      expect(await refusal(fakeHost({ sandboxRules: 1 }).start({ sandbox: { files } }))).toEqual(
        invalid("sandbox.files"),
      );
    },
  ],
  snapshotMs: [
    "start-up files that take longer are left out",
    async () => expect(await withStartup("sleep 300", { snapshotMs: 200 })).toBe("plain\n"),
  ],
  snapshotBytes: [
    "start-up files that set up more are left out",
    async () => expect(await withStartup("true", { snapshotBytes: 100 })).toBe("plain\n"),
  ],
  snapshots: [
    "the oldest is made again",
    async () => {
      const scopes = ["a", "b", "a", "a"];
      expect(await withStartup("echo >>$HOME/captures", { snapshots: 1 }, scopes)).toBe("set up\n");
      expect(await withStartup("echo >>$HOME/captures", { snapshots: 2 }, scopes, "captures")).toBe("\n\n");
      expect(await withStartup("echo >>$HOME/captures", { snapshots: 1 }, scopes, "captures")).toBe("\n\n\n");
    },
  ],
  envPatternChars: [
    "a longer pattern is refused",
    async () => {
      const envPolicy = { inherit: "none", includeOnly: ["ABCD"] } as const;
      const start = fakeHost({ envPatternChars: 3 }).start({ envPolicy });
      expect(await refusal(start)).toEqual(invalid("envPolicy.includeOnly[0]"));
    },
  ],
  envGlobSteps: [
    "a policy that is more work is refused",
    async () => {
      const start = fakeHost({ envGlobSteps: 1 }).start({ envPolicy: { inherit: "all", exclude: ["A*"] } });
      expect(await refusal(start)).toMatchObject({ code: "LIMIT_EXCEEDED" });
    },
  ],
  argBytes: [
    "a longer argument or variable is refused",
    async () => {
      const host = fakeHost({ argBytes: 20 });
      const refused = { code: "SPAWN_FAILED", data: { kind: "arg-too-long", path: "/fake/program" } };
      expect(await refusal(host.start({ argv: ["/fake/program", "x".repeat(20)] }))).toEqual(refused);
      expect(await refusal(host.start({ env: { A: "x".repeat(18) } }))).toEqual(refused);
      await host.start({ argv: ["/fake/program", "x".repeat(19)] });
    },
  ],
  processIdChars: [
    "a longer id is refused",
    async () => {
      expect(await refusal(fakeHost({ processIdChars: 3 }).start({ processId: "abcd" }))).toEqual(invalid("processId"));
    },
  ],
} satisfies Record<string, Row>;

function invalid(field: string) {
  return { code: "INVALID_PARAMS", data: { field } };
}

function exceeded(limit: string) {
  return { code: "LIMIT_EXCEEDED", data: { limit } };
}
