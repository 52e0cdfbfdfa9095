// Running one command to its end, with output and outcome in one value, on every backend. Specs that depend on time use a fake
// clock for the run and advance it when the child prints; the clock of the backend is real.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { afterEach, expect, it } from "@jest/globals";
import { firstValueFrom } from "rxjs";
import { type Run, RunFailed, run, runOrThrow, runShell, startRun } from "../../lib/exec/run/run.ts";
import type { RunOptions } from "../../lib/exec/run/run-options.ts";
import type { ProcessSpec } from "../../protocol/index.ts";
import { sha256 } from "../support/digest.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { exitOf } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { makeScratch, uniqueName } from "../support/scratch.ts";
import { isAlive } from "../support/system-facts.ts";
import { allGone, endDetached, numbersIn } from "../support/trees.ts";
import { describeBackends, KINDS } from "./backends.ts";

const MIB = 1024 * 1024;
const scratch = makeScratch();

/** The facts of a program that ended on its own. */
const OWN_END = { timedOut: false, aborted: false, drain: "eof", gaps: 0, sandboxDenied: false };

/** Ignores SIGTERM and has a child; prints both pids. */
const STUBBORN = "trap '' TERM; sleep 1000 & echo $! $$; while :; do sleep 0.1; done";

describeBackends(
  "run",
  (subject) => {
    const { supports, needs } = subject;
    const relatives: number[] = [];
    afterEach(() => endDetached(...relatives.splice(0)));

    const script = (text: string, options?: RunOptions, spec: Partial<ProcessSpec> = {}) =>
      run(subject.backend, { argv: sh(text), ...spec }, options);

    /** Starts a script that prints pids first; resolves when they have arrived. */
    const startTelling = async (text: string, options: RunOptions): Promise<{ run: Run; pids: number[] }> => {
      const started = startRun(subject.backend, { argv: sh(text) }, options);
      const first = await firstValueFrom(started.chunks$);
      const pids = numbersIn(Buffer.from(first.chunk).toString());
      relatives.push(...pids);
      return { run: started, pids };
    };

    it("returns both streams, their aggregate, and the exit code", async () => {
      const result = await script("printf out; printf err >&2; exit 3");
      expect(result).toMatchObject({
        ...OWN_END,
        exitCode: 3,
        signal: null,
        exited: { exitCode: 3, signal: null, result: "error", reason: "exited" },
      });
      const { stdout, stderr, aggregated } = result;
      expect([stdout.text, stderr.text, aggregated.text]).toEqual(["out", "err", "outerr"]);
      expect(stdout).toMatchObject({ totalBytes: 3, omittedBytes: 0, encoding: "utf-8", isLossy: false });
    });

    it("measures its duration from the call to the end of the process", async () => {
      const clock = new FakeClock();
      const go = scratch(uniqueName("go"));
      const { run: started } = await startTelling(`echo $$; until [ -e '${go}' ]; do sleep 0.01; done`, { clock });
      clock.advance(1_234);
      writeFileSync(go, "");
      expect((await started.result).durationMs).toBe(1_234);
    });

    it("can be attached to by its id, and uses a given id", async () => {
      const named = await script("true", {}, { processId: "named-run" });
      const unnamed = await script("true");
      expect(named.processId).toBe("named-run");
      expect((await subject.backend.attach(unnamed.processId)).info).toMatchObject({ state: "closed", exitCode: 0 });
    });

    it("returns the output of a terminal as stdout", async () => {
      const result = await script("echo out; echo err >&2", {}, { tty: true });
      expect([result.stdout.text, result.stderr.text]).toEqual(["out\r\nerr\r\n", ""]);
    });

    it("reports an exit by a signal as an exit code like shells do, and as the signal itself", async () => {
      const result = await script("kill -KILL $$");
      expect(result).toMatchObject({
        ...OWN_END,
        exitCode: 137,
        signal: subject.killed.signal,
        exited: subject.killed,
      });
    });

    it("keeps its text, encoding and facts in JSON", async () => {
      const result = await script("printf '\\223quoted\\224 text'; printf '\\377\\376\\375' >&2");
      const { stdout, stderr, ...rest } = JSON.parse(JSON.stringify(result));
      expect(stdout).toEqual({ text: "“quoted” text", encoding: "windows-1252", totalBytes: 13, omittedBytes: 0 });
      expect(stderr).toMatchObject({ text: "\uFFFD\uFFFD\uFFFD", base64: "//79" });
      expect(rest).toMatchObject({ exitCode: 0, signal: null, drain: "eof", processId: result.processId });
    });

    it("kills the tree at its timeout, also when it ignores SIGTERM, and returns code 124", async () => {
      const clock = new FakeClock();
      const { run: started, pids } = await startTelling(STUBBORN, { clock, timeoutMs: 5_000 });
      clock.advance(5_000);
      const result = await started.result;
      expect(result).toMatchObject({ exitCode: 124, timedOut: true, aborted: false, durationMs: 5_000 });
      expect(result.exited).toMatchObject({ ...subject.killed, result: "terminated" });
      expect(numbersIn(result.stdout.text)).toEqual(pids);
      await allGone(...pids);
    });

    needs("terminatesWithGrace")("returns code 124 also when the child traps the signal and exits with 0", async () => {
      const clock = new FakeClock();
      const trap = "trap 'echo bye; exit 0' TERM; echo $$; while :; do sleep 0.05; done";
      const { run: started } = await startTelling(trap, { clock, graceMs: 20_000 });
      clock.advance(10_000);
      const result = await started.result;
      expect(result).toMatchObject({ exitCode: 124, timedOut: true, exited: { exitCode: 0, result: "terminated" } });
      expect(result.stdout.text).toMatch(/\nbye\n$/);
    });

    needs("timeouts")("returns code 124 also for the timeoutMs of its spec", async () => {
      const result = await script("sleep 1000", { timeoutMs: null }, { timeoutMs: 100 });
      expect(result).toMatchObject({ exitCode: 124, timedOut: true, exited: { reason: "timeout" } });
    });

    it("has no timeout of its own where the caller has chosen another end", async () => {
      const clock = new FakeClock();
      const { signal } = new AbortController();
      const runs: readonly (readonly [RunOptions, Partial<ProcessSpec>])[] = [
        [{ signal }, {}],
        ...(supports.timeouts ? [[{}, { timeoutMs: 100_000 }] as const] : []),
      ];
      for (const [options, spec] of runs) {
        const started = startRun(
          subject.backend,
          { argv: sh("read _"), pipeStdin: true, ...spec },
          { clock, ...options },
        );
        const process = await started.process;
        clock.advance(60_000);
        await process.write("\n");
        expect(await started.result).toMatchObject({ exitCode: 0, timedOut: false });
      }
    });

    it("can reject unless the command succeeds, with the result in the error", async () => {
      expect(await runOrThrow(subject.backend, { argv: sh("exit 0") })).toMatchObject({ exitCode: 0 });
      const failed = await runOrThrow(subject.backend, { argv: sh("echo no >&2; exit 3") }).catch((error) => error);
      expect(failed).toBeInstanceOf(RunFailed);
      expect(failed).toMatchObject({ code: "RUN_FAILED", data: { exitCode: 3 }, result: { exitCode: 3 } });
      expect(failed.message).toMatch(/exited with 3: no$/);
    });

    it("runs a script by an explicit name", async () => {
      const { stdout, exitCode } = await runShell(subject.backend, 'echo "$PATH" | grep -c bin; exit 4');
      expect([stdout.text, exitCode]).toEqual(["1\n", 4]);
    });

    it("ends its tree when it is aborted, and reports the abort", async () => {
      const controller = new AbortController();
      const { run: started, pids } = await startTelling(STUBBORN, { signal: controller.signal });
      controller.abort();
      expect(await started.result).toMatchObject({ exitCode: 124, timedOut: false, aborted: true });
      await allGone(...pids);
    });

    needs("terminatesWithGrace", "findsDaemons")(
      "ends a daemon that has left the group when it is aborted",
      async () => {
        const controller = new AbortController();
        const daemon = "setsid sh -c 'echo $$; exec sleep 1000' & wait";
        const { run: started, pids } = await startTelling(daemon, { signal: controller.signal });
        controller.abort();
        expect((await started.result).drain).toBe("eof");
        await allGone(...pids);
      },
    );

    it("starts nothing when it is aborted before the start", async () => {
      const processId = "never-started";
      const result = await script("true", { signal: AbortSignal.abort() }, { processId });
      expect(result).toMatchObject({ processId, exitCode: 124, aborted: true, exited: null });
      expect(result.aggregated.text).toBe("");
      expect(await refusal(subject.backend.attach(processId))).toEqual({ code: "PROCESS_UNKNOWN", data: {} });
    });

    it("does not wait for a background job that keeps its output open, but reports and spares the job", async () => {
      const clock = new FakeClock();
      const { run: started, pids } = await startTelling("sleep 1000 & echo $!", { clock });
      await exitOf(await started.process);
      clock.advance(2_000);
      const result = await started.result;
      expect(result).toMatchObject({ ...OWN_END, exitCode: 0, drain: "idle" });
      expect(numbersIn(result.stdout.text)).toEqual(pids);
      expect(pids.every(isAlive)).toBe(true);
      const holder = { pid: pids[0], command: expect.any(String), streams: ["stdout", "stderr"] };
      expect(result.holders).toEqual(supports.facts ? [holder] : undefined);
    });

    needs("killAfterExit")("ends such a background job with leftBehind terminate", async () => {
      const clock = new FakeClock();
      const { run: started, pids } = await startTelling("sleep 1000 & echo $!", { clock, leftBehind: "terminate" });
      await exitOf(await started.process);
      clock.advance(2_000);
      expect(await started.result).toMatchObject({ exitCode: 0, drain: "idle" });
      await allGone(...pids);
    });

    it("returns the output of a background job up to the drain deadline", async () => {
      const clock = new FakeClock();
      const job = "sh -c 'echo $$; while :; do echo more; sleep 0.05; done' &";
      const { run: started } = await startTelling(job, { clock, drainDeadlineMs: 1_000 });
      await exitOf(await started.process);
      await firstValueFrom(started.chunks$);
      clock.advance(1_000);
      const result = await started.result;
      expect(result).toMatchObject({ exitCode: 0, drain: "deadline" });
      expect(result.stdout.text).toMatch(/^\d+\n(more\n)+$/);
    });

    it("keeps the beginning and the end of a flood without a newline", async () => {
      const bytes = 24 * MIB;
      const result = await script(`printf begin; head -c ${bytes} /dev/zero | tr '\\0' x; printf end`);
      const { stdout, aggregated } = result;
      expect([stdout.totalBytes, stdout.omittedBytes, stdout.bytes.length]).toEqual([bytes + 8, bytes + 8 - MIB, MIB]);
      expect(stdout.omissions).toEqual([{ at: MIB / 2, bytes: bytes + 8 - MIB }]);
      expect([stdout.text.slice(0, 7), stdout.text.slice(-5)]).toEqual(["beginxx", "xxend"]);
      expect(aggregated.bytes.length).toBe(MIB);
      expect(result).toMatchObject({ ...OWN_END, exitCode: 0 });
    });

    it("keeps all output of both streams with a full capture, without a timeout", async () => {
      const clock = new FakeClock();
      const bytes = randomBytes(MIB + 128 * 1024);
      writeFileSync(scratch("bytes"), bytes);
      const argv = sh('echo up; read -r _; cat "$1" >&2; cat "$1"', scratch("bytes"));
      const started = startRun(subject.backend, { argv, pipeStdin: true }, { clock, capture: "full" });
      await firstValueFrom(started.chunks$);
      clock.advance(100_000_000);
      await (await started.process).write("\n");
      const { stdout, stderr, aggregated, ...result } = await started.result;
      expect(result).toMatchObject({ ...OWN_END, exitCode: 0 });
      expect([sha256(stdout.bytes.subarray(3)), sha256(stderr.bytes)]).toEqual([sha256(bytes), sha256(bytes)]);
      expect([aggregated.totalBytes, aggregated.omittedBytes]).toEqual([2 * bytes.length + 3, 0]);
    });

    needs("closesPipes")("writes stdin and closes it, with large, small and empty input", async () => {
      const bytes = randomBytes(3 * MIB);
      const [text, much, none] = await Promise.all([
        script("cat", { stdin: "täxt" }),
        script("sha256sum", { stdin: bytes }),
        script("cat", { stdin: "" }),
      ]);
      expect([text?.stdout.text, none?.stdout.text]).toEqual(["täxt", ""]);
      expect(much?.stdout.text).toBe(`${sha256(bytes)}  -\n`);
    });

    needs("closesPipes")("succeeds when the child does not read its stdin", async () => {
      const result = await script("exit 5", { stdin: randomBytes(5 * MIB) });
      expect(result).toMatchObject({ ...OWN_END, exitCode: 5 });
    });

    it("types its stdin into a terminal, and ends it there", async () => {
      const result = await script("stty -echo; cat; exit 4", { stdin: "typed\n" }, { tty: true });
      expect(result.exitCode).toBe(4);
      expect(result.stdout.text).toContain("typed\r\n");
    });

    if (!supports.closesPipes) {
      it("refuses stdin where it cannot be closed, and leaves nothing running", async () => {
        const processId = "endless-input";
        expect(await refusal(script("cat; sleep 1000", { stdin: "text" }, { processId }))).toEqual({
          code: "UNSUPPORTED",
          data: { what: "closeStdin" },
        });
        await exitOf(await subject.backend.attach(processId));
      });
    }

    it("rejects with the error of a failed start", async () => {
      const { code, data } = await refusal(run(subject.backend, { argv: ["/no/such/program"] }));
      expect(code).toBe("SPAWN_FAILED");
      if (supports.reportsSpawnFailures) expect(data).toEqual({ kind: "not-found", path: "/no/such/program" });
      expect(await refusal(run(subject.backend, { argv: [] }))).toMatchObject({ code: "INVALID_PARAMS" });
    });
  },
  {},
  KINDS,
);
