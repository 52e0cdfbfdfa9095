// Processes of a backend: start, attach, list, changes, and when an id is free again.
import { randomUUID } from "node:crypto";
import { expect, it } from "@jest/globals";
import { filter, firstValueFrom, map, takeWhile, toArray } from "rxjs";
import { end, outcome, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { uniqueName } from "../support/scratch.ts";
import { settled } from "../support/system-wait.ts";
import { closed, exited, output, transcript } from "../support/transcript.ts";
import { allGone, findProcesses } from "../support/trees.ts";
import { describeBackends } from "./backends.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describeBackends("lifecycle", (subject) => {
  const { supports, needs, start } = subject;

  it("leaves no process of a start that was aborted, before it was requested or on its way", async () => {
    const aborted = AbortSignal.abort("before");
    await expect(subject.backend.start({ argv: ["sleep", "1000"] }, { signal: aborted })).rejects.toBe("before");
    const controller = new AbortController();
    const processId = uniqueName("aborted");
    const starting = subject.backend.start({ argv: ["sleep", "1000"], processId }, { signal: controller.signal });
    controller.abort("on its way");
    await expect(starting).rejects.toBe("on its way");
    const states = await settled(
      async () =>
        (await subject.backend.list()).filter((info) => info.processId === processId).map(({ state }) => state),
      // It was requested, so it starts; then it is killed.
      (found) => found[0] === "closed",
    );
    expect(states).toEqual(["closed"]);
  });

  it("describes a process in its info while it runs and after it has closed", async () => {
    const before = Date.now();
    const argv = sh("read _");
    const process = await start({ argv, processId: "described", cwd: "/", pipeStdin: true, labels: { job: "x" } });
    const facts = {
      processId: "described",
      incarnation: process.incarnation,
      argv,
      cwd: "/",
      tty: false,
      stdin: true,
      ...(supports.reportsPid && { pid: expect.any(Number) }),
      startedAt: expect.any(Number),
      sandbox: "none",
      labels: { job: "x" },
    };
    expect(process.info).toEqual({ ...facts, state: "running", exitCode: null, signal: null });
    expect(process.info.startedAt).toBeGreaterThanOrEqual(before);
    expect(process.incarnation).toMatch(UUID);
    await process.write("\n");
    await end(process);
    expect(process.info).toEqual({ ...facts, state: "closed", exitCode: 0, signal: null });
    expect(await subject.backend.list()).toContainEqual(process.info);
  });

  it("gives a process without an id a uuid, and every process an incarnation of its own", async () => {
    const [one, two] = await Promise.all([start({ argv: ["true"] }), start({ argv: ["true"] })]);
    expect([one.id, two.id, one.incarnation, two.incarnation]).toEqual(Array(4).fill(expect.stringMatching(UUID)));
    expect(one.id).not.toBe(two.id);
    expect(one.incarnation).not.toBe(two.incarnation);
  });

  it("starts one process for repeated starts with the same incarnation", async () => {
    const incarnation = randomUUID();
    const spec = { argv: sh("echo once; read _"), pipeStdin: true, processId: "idempotent" };
    const [one, two] = await Promise.all([start(spec, { incarnation }), start(spec, { incarnation })]);
    await printed(one, "once\n");
    expect([one.incarnation, two.incarnation]).toEqual([incarnation, incarnation]);
    expect(two.info).toEqual(one.info);
    const refused = { code: "PROCESS_EXISTS", data: {} };
    expect(await refusal(start(spec, { incarnation: randomUUID() }))).toEqual(refused);
    const other = { code: "INVALID_PARAMS", data: { field: "incarnation" } };
    expect(await refusal(start({ ...spec, argv: ["true"] }, { incarnation }))).toEqual(other);
    await two.write("\n");
    await end(one);
    const again = await start(spec, { incarnation });
    expect(again.info).toEqual(one.info);
    expect(await transcript(again)).toEqual([output(1, "stdout", "once\n"), exited(2), closed(3, { stdout: 5 })]);
  });

  it("attaches to the same process by its id, with the same log", async () => {
    const process = await start({ argv: sh("echo hello; read _"), pipeStdin: true });
    const found = await subject.backend.attach(process.id);
    expect([found.id, found.incarnation]).toEqual([process.id, process.incarnation]);
    await printed(found, "hello\n");
    expect(await found.write("\n")).toBe("accepted");
    expect(await transcript(found)).toEqual(await transcript(process));
  });

  it("refuses to attach to an unknown id", async () => {
    expect(await refusal(subject.backend.attach("unknown"))).toEqual({ code: "PROCESS_UNKNOWN", data: {} });
  });

  it("emits every change of state in changes$", async () => {
    const id = uniqueName("changing");
    const states = firstValueFrom(
      subject.backend.changes$.pipe(
        filter((info) => info.processId === id),
        map(({ state, exitCode }) => [state, exitCode]),
        takeWhile(([state]) => state !== "closed", true),
        toArray(),
      ),
    );
    await start({ argv: sh("exit 3"), processId: id });
    expect(await states).toEqual([
      ["starting", null],
      ["running", null],
      ["exited", 3],
      ["closed", 3],
    ]);
  });

  it("refuses an id in use, also of a closed process, and does not touch that process", async () => {
    const process = await start({ argv: sh("read _; exit 5"), processId: "taken", pipeStdin: true });
    expect(await refusal(start({ argv: ["true"], processId: "taken" }))).toEqual({ code: "PROCESS_EXISTS", data: {} });
    await process.write("\n");
    expect((await outcome(process)).exitCode).toBe(5);
    expect(await refusal(start({ argv: ["true"], processId: "taken" }))).toEqual({ code: "PROCESS_EXISTS", data: {} });
  });

  it("gives an id to one of two concurrent starts", async () => {
    const results = await Promise.allSettled([1, 2].map(() => start({ argv: ["true"], processId: "contended" })));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });

  it.each([
    ["pipes", false],
    ["a tty", true],
  ])("cancels a pending start and leaves nothing of it, on %s", async (_what, tty) => {
    const processId = uniqueName("cancelled");
    // The search for the program through five thousand folders takes long enough on any backend.
    const slow = { processId, env: { PATH: `${"/-:".repeat(5_000)}/bin:/usr/bin` } };
    const argv = ["sh", "-c", "while :; do sleep 1; done", processId];
    const starting = refusal(start({ ...slow, argv, tty }));
    const process = await subject.backend.attach(processId);
    expect(process.info.state).toBe("starting");
    expect(await refusal(process.read())).toEqual({ code: "PROCESS_STARTING", data: {} });
    expect(await process.write("x")).toBe("starting");
    await process.signal("SIGINT");
    expect(await process.terminate()).toEqual({ running: true });
    expect(await starting).toEqual({ code: "START_CANCELLED", data: {} });
    expect(await refusal(transcript(process))).toEqual({ code: "START_CANCELLED", data: {} });
    // The id is free at once. This start takes as long, so that it ends after the cancelled one.
    const free = supports.cancelsStarts ? processId : uniqueName("next");
    const next = await start({ ...slow, processId: free, argv: ["echo", "fresh"] });
    expect((await outcome(next)).stdout).toBe("fresh\n");
    await allGone(...findProcesses(processId));
  });

  it("lists processes in the order of their starts, without failed starts", async () => {
    const backend = await subject.create();
    await backend.start({ argv: ["true"], processId: "b" });
    await backend.start({ argv: ["true"], processId: "a" });
    await refusal(backend.start({ argv: ["/no/such/program"], processId: "c" }));
    expect((await backend.list()).map(({ processId }) => processId)).toEqual(["b", "a"]);
  });

  needs("ownHost")("refuses a start beyond liveProcesses, which does not count closed processes", async () => {
    const backend = await subject.create({ liveProcesses: 1 });
    const process = await backend.start({ argv: sh("read _"), pipeStdin: true });
    const refused = { code: "LIMIT_EXCEEDED", data: { limit: "liveProcesses" } };
    expect(await refusal(backend.start({ argv: ["true"] }))).toEqual(refused);
    await process.write("\n");
    await end(process);
    await end(await backend.start({ argv: ["true"] }));
  });

  it("removes the oldest closed process beyond closedProcesses", async () => {
    const backend = await subject.create({ closedProcesses: 2 });
    for (const processId of ["1", "2", "3"]) await end(await backend.start({ argv: ["true"], processId }));
    expect((await backend.list()).map(({ processId }) => processId)).toEqual(["2", "3"]);
  });
});

describeBackends("a removed process", (subject) => {
  const { needs } = subject;
  const removed = async (pipeStdin: boolean) => {
    const backend = await subject.create({ closedRetentionMs: 20 });
    const gone = firstValueFrom(backend.changes$.pipe(filter(({ state }) => state === "removed")));
    const process = await backend.start({ argv: sh("echo kept"), pipeStdin, processId: "mortal" });
    await gone;
    return { backend, process };
  };

  needs("ownHost").each([true, false])(
    "is unknown to every call, and its id is free again (pipeStdin %s)",
    async (pipeStdin) => {
      const { backend, process } = await removed(pipeStdin);
      if (subject.supports.reportsRemoval) expect(process.info.state).toBe("removed");
      expect(await refusal(backend.attach("mortal"))).toEqual({ code: "PROCESS_UNKNOWN", data: {} });
      expect(await refusal(process.read())).toEqual({ code: "PROCESS_UNKNOWN", data: {} });
      expect(await process.write("x")).toBe("unknownProcess");
      expect(await process.closeStdin()).toBe("unknownProcess");
      expect(await process.terminate()).toEqual({ running: false });
      await process.signal("SIGTERM");
      expect(await backend.list()).toEqual([]);
      const next = await backend.start({ argv: ["true"], processId: "mortal" });
      expect(next.incarnation).not.toBe(process.incarnation);
    },
  );

  it("is not looked up for a write with an empty write id, which is refused first", async () => {
    const { process } = await removed(true);
    const refused = { code: "INVALID_PARAMS", data: { field: "writeId" } };
    expect(await refusal(process.write("x", { writeId: "" }))).toEqual(refused);
  });

  it("still reports its exit to existing handles", async () => {
    const { process } = await removed(false);
    // Without the ability, the exit may come before the output.
    const seq = subject.supports.exitAfterOwnOutput ? 2 : expect.any(Number);
    expect(await firstValueFrom(process.exit$)).toEqual({ ...exited(2), seq });
  });
});
