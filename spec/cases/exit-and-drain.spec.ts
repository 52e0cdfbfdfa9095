// Public bug reports about ends: the last output, processes that keep the streams open, and how timeouts are reported.
import { afterEach, expect, it } from "@jest/globals";
import { firstValueFrom } from "rxjs";
import { run, startRun } from "../../lib/exec/run/run.ts";
import type { Process } from "../../lib/process/process.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { end, exitOf, outcome, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { isAlive } from "../support/system-facts.ts";
import { settled } from "../support/system-wait.ts";
import { closed, exited, output, transcript } from "../support/transcript.ts";
import { allGone, endDetached, numbersIn } from "../support/trees.ts";
import { describeCases } from "./describe-cases.ts";

const TIMES = 20;

describeCases("the end of a process", (subject) => {
  const { start } = subject;
  const jobs: number[] = [];
  afterEach(() => endDetached(...jobs.splice(0)));

  /** The job whose pid a script prints in its first line; it is ended after the case. */
  const jobOf = async (process: Process): Promise<number> => {
    const [pid] = numbersIn(await printed(process, "\n")) as [number];
    jobs.push(pid);
    return pid;
  };

  /** The holders of a process's streams, once no other program has them open. */
  const holderOf = (process: Process, command: string) =>
    settled(
      () => process.holders(),
      (holders) => holders.length === 1 && holders[0]?.command === command,
    );

  it("P01 a terminal delivers the last bytes of a program that prints a lot and exits at once on a busy machine", async () => {
    const busy = await Promise.all([1, 2].map(() => start({ argv: sh("while :; do :; done") })));
    const counts = Array.from({ length: TIMES }, async () => {
      const process = await start({ argv: sh("head -c 200000 /dev/zero | tr '\\0' x"), tty: true });
      let bytes = 0;
      for await (const event of process) {
        if (event.type === "output") bytes += event.chunk.length;
        else if (event.type === "closed") return { bytes, told: event.bytes.pty };
        else expect(event).toMatchObject({ type: "exited", exitCode: 0 });
      }
      return "it ended without `closed`";
    });
    expect(await Promise.all(counts)).toEqual(Array(TIMES).fill({ bytes: 200_000, told: 200_000 }));
    await Promise.all(busy.map((process) => process.terminate({ graceMs: 0 })));
  });

  it("P04 a background job that keeps the pipe open does not delay the exit", async () => {
    const process = await start({ argv: sh("sleep 30 & echo $!; exit 3") });
    expect(await exitOf(process)).toMatchObject({ seq: 2, exitCode: 3 });
    const job = await jobOf(process);
    expect([process.info.state, isAlive(job)]).toEqual(["exited", true]);

    const result = await run(subject.backend, { argv: sh("sleep 30 & echo $!; exit 3") }, { drainMs: 100 });
    const other = Number(result.stdout.text);
    jobs.push(other);
    expect(result).toMatchObject({
      exitCode: 3,
      timedOut: false,
      drain: "idle",
      holders: [{ pid: other, command: "sleep 30", streams: ["stdout", "stderr"] }],
    });
  });

  it("P06 a silent holder of one stream is distinguished from a holder of both", async () => {
    const process = await start({ argv: sh("sleep 30 </dev/null >/dev/null & echo $!") });
    const pid = await jobOf(process);
    await exitOf(process);
    expect(await holderOf(process, "sleep 30")).toEqual([{ pid, command: "sleep 30", streams: ["stderr"] }]);
    await endDetached(pid);
    expect(await transcript(process)).toEqual([
      output(1, "stdout", `${pid}\n`),
      exited(2),
      closed(3, { stdout: `${pid}\n`.length }),
    ]);
  });

  it("P07 a descendant that left the group does not make a caller wait beyond the timeout", async () => {
    const clock = new FakeClock();
    const argv = sh("setsid sleep 60 & echo $!; sleep 60");
    const { process, result } = startRun(subject.backend, { argv }, { clock, timeoutMs: 300 });
    const daemon = await jobOf(await process);
    clock.advance(300);
    expect(await result).toMatchObject({ exitCode: 124, timedOut: true, drain: "eof" });
    await allGone(daemon);
  });

  it("P07 a descendant that a kill of the group spares is named, and a caller waits for it only on request", async () => {
    const process = await start({ argv: sh("setsid sh -c 'echo $$; exec sleep 60' & sleep 60") });
    const pid = await jobOf(process);
    await process.terminate({ graceMs: 0, scope: "group" });
    const { seq } = await exitOf(process);
    expect(await holderOf(process, "sleep 60")).toEqual([{ pid, command: "sleep 60", streams: ["stdout", "stderr"] }]);
    expect(await process.read({ afterSeq: seq, waitMs: 50 })).toMatchObject({ exited: true, closed: false });
    await process.terminate({ graceMs: 0, scope: "tree" });
    await end(process);
    await allGone(pid);
  });

  // The job exists before the line is printed, so the signal that follows the line does not miss it.
  const TRAPPING = 'trap "exit 0" TERM; sleep 5 & echo part; wait';

  it("P09 a child that traps the signal of its timeout and exits with 0 is not a success", async () => {
    const process = await start({ argv: sh(TRAPPING), timeoutMs: 500 });
    expect(await exitOf(process)).toMatchObject({ exitCode: 0, signal: null, reason: "timeout", result: "terminated" });
    expect((await outcome(process)).stdout).toBe("part\n");
  });

  it("P09 a run of such a child has the code of a timeout in addition to the child's own", async () => {
    const clock = new FakeClock();
    const options = { clock, timeoutMs: 200, graceMs: 20_000 };
    const started = startRun(subject.backend, { argv: sh(TRAPPING) }, options);
    await firstValueFrom(started.chunks$);
    clock.advance(200);
    const result = await started.result;
    expect(result).toMatchObject({ exitCode: 124, timedOut: true, exited: { exitCode: 0, result: "terminated" } });
    expect(result.stdout.text).toBe("part\n");
  });

  const print = (bytes: number) => [
    process.execPath,
    "-e",
    `process.stdout.write(Buffer.alloc(${bytes}, 65)); process.exit(0)`,
  ];

  it.each([
    ["a pipe", {}, 204_800],
    ["one pipe for both streams", { merge: true }, 204_800],
    // Node writes to a terminal synchronously; what does not fit into a pipe at once is lost with the exit.
    ["a raw terminal", { tty: { raw: true } }, 2_000_000],
  ])("P10 output written right before process.exit arrives, on %s", async (_where, spec, bytes) => {
    const counts = Array.from({ length: 5 }, async () => {
      const process = await start({ argv: print(bytes), ...spec });
      let count = 0;
      for await (const event of process) if (event.type === "output") count += event.chunk.length;
      return count;
    });
    expect(await Promise.all(counts)).toEqual(Array(5).fill(bytes));
  });

  it("P10 a stopped reader does not stop a program whose output fits into the log", async () => {
    const process = await start({ argv: print(204_800) });
    let bytes = 0;
    for await (const event of process) {
      if (bytes === 0) await exitOf(process);
      if (event.type === "output") bytes += event.chunk.length;
    }
    expect(bytes).toBe(204_800);
  });

  it.each([
    ["pipes", { pipeStdin: true }, "\n"],
    ["a terminal", { tty: { echo: false } }, "\r\n"],
  ])("P13 closing stdin early does not truncate the output, on %s", async (_where, spec, lineEnd) => {
    const process = await start({ argv: ["seq", "1", "200000"], ...spec });
    await process.closeStdin();
    let [count, last] = [0, ""];
    for await (const event of process) {
      if (event.type !== "output") continue;
      const text = Buffer.from(event.chunk).toString();
      count += text.split("\n").length - 1;
      last = (last + text).slice(-20);
    }
    expect(count).toBe(200_000);
    expect(last.endsWith(`${lineEnd}200000${lineEnd}`)).toBe(true);
    expect(await exitOf(process)).toMatchObject({ exitCode: 0 });
  });
});
