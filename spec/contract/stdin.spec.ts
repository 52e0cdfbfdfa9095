// Input: order, end, back-pressure, and children that do not read it.
import { randomBytes } from "node:crypto";
import { expect, it } from "@jest/globals";
import { concatMap, from, lastValueFrom, of, Subject, throwError } from "rxjs";
import type { Process } from "../../lib/process/process.ts";
import { writeFrom, writeOrThrow } from "../../lib/process/write-from.ts";
import { sha256 } from "../support/digest.ts";
import { end, exitOf, outcome, printed } from "../support/outcome.ts";
import { fixture, sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { describeBackends } from "./backends.ts";

const readOneLine = sh("IFS= read -r line; printf 'from-stdin:%s\\n' \"$line\"");
const MIB = 1024 * 1024;

describeBackends("stdin", ({ needs, start }) => {
  it("reaches a program on a pipe", async () => {
    const process = await start({ argv: readOneLine, pipeStdin: true });
    expect(await process.write("hello\n")).toBe("accepted");
    expect(await outcome(process)).toMatchObject({ stdout: "from-stdin:hello\n", exitCode: 0 });
  });

  it("reaches a program on a tty, which echoes it", async () => {
    const process = await start({ argv: readOneLine, tty: true });
    expect(await process.write("hello\n")).toBe("accepted");
    expect(await outcome(process)).toMatchObject({ pty: "hello\r\nfrom-stdin:hello\r\n", exitCode: 0 });
  });

  it("is closed unless the spec asks for it: the child reads end of file", async () => {
    const script = "read -r line && printf 'read:%s\\n' \"$line\" || echo eof; readlink /proc/self/fd/0";
    const process = await start({ argv: sh(script) });
    expect(await process.write("ignored\n")).toBe("stdinClosed");
    expect(await process.closeStdin()).toBe("stdinClosed");
    expect(await outcome(process)).toMatchObject({ stdout: "eof\n/dev/null\n", exitCode: 0 });
  });

  needs("closesPipes")("accepts bytes and text, and copies them before write returns", async () => {
    const process = await start({ argv: ["cat"], pipeStdin: true });
    const bytes = Buffer.from("bytes,");
    const writing = process.write(bytes);
    bytes.fill("x");
    await Promise.all([writing, process.write("té€xt"), process.write(new Uint8Array()), process.write("")]);
    await process.closeStdin();
    expect((await outcome(process)).stdout).toBe("bytes,té€xt");
  });

  needs("closesPipes")("keeps the order of writes that are not awaited", async () => {
    const process = await start({ argv: ["cat"], pipeStdin: true });
    const words = Array.from({ length: 500 }, (_, i) => `${i}\n`);
    const answers = await Promise.all([...words.map((word) => process.write(word)), process.closeStdin()]);
    expect(new Set(answers)).toEqual(new Set(["accepted"]));
    expect((await outcome(process)).stdout).toBe(words.join(""));
  });

  needs("closesPipes")("ends on a pipe after all earlier writes, also large ones", async () => {
    const paste = randomBytes(3 * MIB);
    const process = await start({ argv: ["sha256sum"], pipeStdin: true });
    const answers = await Promise.all([process.write(paste), process.write("end"), process.closeStdin()]);
    expect(answers).toEqual(["accepted", "accepted", "accepted"]);
    expect((await outcome(process)).stdout).toBe(`${sha256(paste, Buffer.from("end"))}  -\n`);
  });

  needs("setsTerminal").each([
    ["at the start of a line", ["one\n"], "one\r\n"],
    ["in the middle of a line", ["one\n", "tw"], "one\r\ntw"],
    ["without any input", [], ""],
  ])("ends for the program on a tty %s", async (_what, words, pty) => {
    const process = await start({ argv: sh("echo ready; cat"), tty: { echo: false } });
    await printed(process, "ready");
    for (const word of words) await process.write(word);
    expect(await process.closeStdin()).toBe("accepted");
    expect(await outcome(process)).toMatchObject({ pty: `ready\r\n${pty}`, exitCode: 0 });
  });

  needs("closesPipes")("can be closed twice, and refuses later writes", async () => {
    const process = await start({ argv: fixture("on-signal.mjs"), pipeStdin: true });
    expect(await process.closeStdin()).toBe("accepted");
    expect(await process.closeStdin()).toBe("accepted");
    expect(await process.write("late")).toBe("stdinClosed");
    expect(process.info.state).toBe("running");
    await process.terminate({ graceMs: 0 });
  });

  needs("stdinBackPressure", "closesPipes")(
    "refuses writes when the child has closed its end, without other effects",
    async () => {
      const process = await start({ argv: sh("exec <&-; echo closed; sleep 1000"), pipeStdin: true });
      await printed(process, "closed\n");
      let answer = await process.write("x");
      while (answer === "accepted") {
        await process.read({ afterSeq: 1, waitMs: 5 });
        answer = await process.write("x");
      }
      expect(answer).toBe("stdinClosed");
      expect(await process.closeStdin()).toBe("stdinClosed");
      expect(process.info.state).toBe("running");
      await process.signal("SIGTERM");
      expect((await outcome(process)).signal).toBe("SIGTERM");
    },
  );

  it.each([
    ["a pipe", { pipeStdin: true }],
    ["a tty", { tty: true }],
  ])("refuses writes after the exit, on %s", async (_what, spec) => {
    const process = await start({ argv: ["/bin/true"], ...spec, env: { PATH: "/bin" } });
    await exitOf(process);
    expect(await process.write("x")).toBe("stdinClosed");
    expect(await process.closeStdin()).toBe("stdinClosed");
    await end(process);
    expect(await process.write("x")).toBe("stdinClosed");
  });

  needs("closesPipes")("passes 1 MiB through a pipe unchanged", async () => {
    const paste = randomBytes(MIB);
    const process = await start({ argv: ["sha256sum"], pipeStdin: true });
    for (let at = 0; at < MIB; at += 10_000) await process.write(paste.subarray(at, at + 10_000));
    await process.closeStdin();
    expect((await outcome(process)).stdout).toBe(`${sha256(paste)}  -\n`);
  });

  needs("setsTerminal")("passes a paste of 1 MiB through a raw tty unchanged", async () => {
    const paste = randomBytes(MIB);
    const process = await start({
      argv: sh(`echo ready; head -c ${MIB} | sha256sum`),
      tty: { raw: true, echo: false },
    });
    await printed(process, "ready\n");
    await process.write(paste);
    expect((await outcome(process)).pty).toBe(`ready\n${sha256(paste)}  -\n`);
  });
});

describeBackends(
  "a stdin queue of 1,000 bytes",
  ({ needs, start }) => {
    /** A process that reads nothing, with its pipe and its queue full. */
    const startFull = async (): Promise<{ process: Process; large: Buffer }> => {
      const process = await start({ argv: fixture("on-signal.mjs", "SIGUSR1=ignore"), pipeStdin: true });
      await printed(process, "ready\n");
      const large = randomBytes(2 * MIB);
      expect(await process.write(large, { writeId: "large" })).toBe("accepted");
      return { process, large };
    };

    needs("closesPipes")("accepts a write larger than itself when it is empty", async () => {
      const large = randomBytes(MIB);
      const process = await start({ argv: ["sha256sum"], pipeStdin: true });
      expect(await process.write(large)).toBe("accepted");
      await process.closeStdin();
      expect((await outcome(process)).stdout).toBe(`${sha256(large)}  -\n`);
    });

    needs("stdinBackPressure", "signals")("makes a write wait while it is full, but not a signal", async () => {
      const { process } = await startFull();
      const answers: string[] = [];
      const waiting = process.write("more").then((answer) => answers.push(answer));
      await process.signal("SIGUSR1");
      await printed(process, "SIGUSR1\n");
      expect(answers).toEqual([]);
      expect(await process.write("other", { writeId: "large" }).catch((error) => error.code)).toBe("WRITE_ID_CONFLICT");
      await process.signal("SIGKILL");
      await waiting;
      expect(answers).toEqual(["stdinClosed"]);
      expect((await outcome(process)).signal).toBe("SIGKILL");
    });

    it("acknowledges a retry of a queued write without waiting for room", async () => {
      const { process, large } = await startFull();
      expect(await process.write(large, { writeId: "large" })).toBe("accepted");
      await process.terminate({ graceMs: 0 });
    });

    needs("stdinBackPressure", "closesPipes")("accepts waiting writes in order as room becomes free", async () => {
      const process = await start({ argv: sh("read _; exec cat"), pipeStdin: true });
      const words = Array.from({ length: 300 }, (_, i) => `${i}${"-".repeat(990)}`);
      const writes = Promise.all([process.write("\n"), ...words.map((word) => process.write(word))]);
      const ended = process.closeStdin();
      expect(new Set(await writes)).toEqual(new Set(["accepted"]));
      expect(await ended).toBe("accepted");
      expect((await outcome(process)).stdout).toBe(words.join(""));
    });
  },
  { stdinQueueBytes: 1000 },
);

describeBackends("stdin from a source", ({ needs, start }) => {
  const count = sh("wc -c");

  needs("closesPipes")("gets everything of an iterable, which is asked when there is room, and is closed", async () => {
    const process = await start({ argv: count, pipeStdin: true });
    const chunk = Buffer.alloc(MIB, "x");
    let delivered = 0;
    async function* source() {
      for (; delivered < 24; delivered += 1) yield chunk;
    }
    expect(await writeFrom(process, source())).toBe(24 * MIB);
    expect((await outcome(process)).stdout.trim()).toBe(String(24 * MIB));
  });

  needs("closesPipes")("gets everything of an Observable, and can stay open", async () => {
    const process = await start({ argv: count, pipeStdin: true });
    expect(await writeFrom(process, of("one\n", Buffer.from("two\n")), { end: false })).toBe(8);
    const later = new Subject<string>();
    const writing = writeFrom(process, later);
    for (const line of ["three\n", "four\n"]) later.next(line);
    later.complete();
    expect(await writing).toBe(11);
    expect((await outcome(process)).stdout.trim()).toBe("19");
  });

  it("fails with the error of its source, after what came before", async () => {
    const process = await start({ argv: readOneLine, pipeStdin: true });
    const broken = from([of("line\n"), throwError(() => new Error("broken"))]).pipe(concatMap((each) => each));
    await expect(writeFrom(process, broken)).rejects.toThrow("broken");
    expect((await outcome(process)).stdout).toBe("from-stdin:line\n");
  });

  it("fails for a closed stdin, also within a concatMap", async () => {
    const process = await start({ argv: ["true"] });
    const closed = { code: "STDIN_CLOSED", data: {} };
    expect(await refusal(writeFrom(process, ["a"]))).toEqual(closed);
    const written = of("a").pipe(concatMap((chunk) => writeOrThrow(process, chunk)));
    expect(await refusal(lastValueFrom(written))).toEqual(closed);
    await end(process);
  });

  it("stops an Observable that is too far ahead of the process", async () => {
    const process = await start({ argv: sh("exec cat >/dev/null"), pipeStdin: true });
    const source = new Subject<Uint8Array>();
    const writing = refusal(writeFrom(process, source));
    for (let mib = 0; mib < 20; mib += 1) source.next(new Uint8Array(MIB));
    expect(await writing).toEqual({ code: "LIMIT_EXCEEDED", data: { limit: "stdinParkedBytes" } });
    expect(source.observed).toBe(false);
    await process.terminate();
    await end(process);
  });
});
