// The event stream of a process, seq by seq: early, late and repeated subscribers see the same events.
import { writeFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { outcome, printed } from "../support/outcome.ts";
import { fixture, sh } from "../support/programs.ts";
import { makeScratch, uniqueName } from "../support/scratch.ts";
import { closed, exited, output, seen, transcript } from "../support/transcript.ts";
import { describeBackends } from "./backends.ts";

const scratch = makeScratch();

/** Prints on stdout, on stderr, and exits with 7; each step waits for a line of input, so every seq is certain. */
const threeSteps = sh("printf 'event output\\n'; read _; printf 'event err\\n' >&2; read _; exit 7");

describeBackends("events", (subject) => {
  const { supports, needs, start } = subject;
  const stepThrough = async () => {
    const process = await start({ argv: threeSteps, pipeStdin: true });
    await printed(process, "event output\n");
    await process.write("\n");
    await printed(process, "event err\n");
    await process.write("\n");
    return process;
  };
  const expected = [
    output(1, "stdout", "event output\n"),
    output(2, "stderr", "event err\n"),
    exited(3, { exitCode: 7, result: "error" }),
    closed(4, { stdout: 13, stderr: 10 }),
  ];

  it("delivers only exited and closed for a program that prints nothing", async () => {
    const process = await start({ argv: ["true"], processId: "silent" });
    expect(process.id).toBe("silent");
    expect(await transcript(process)).toEqual([exited(1), closed(2)]);
  });

  it("numbers output, exited and closed in one sequence", async () => {
    expect(await transcript(await stepThrough())).toEqual(expected);
  });

  it("replays all events to every subscriber after the end", async () => {
    const process = await stepThrough();
    await outcome(process);
    expect(await transcript(process)).toEqual(expected);
    expect(await transcript(await subject.backend.attach(process.id))).toEqual(expected);
  });

  it("delivers only the events after afterSeq", async () => {
    const process = await stepThrough();
    expect(await transcript(process, 2)).toEqual(expected.slice(2));
    expect(await transcript(process, 3)).toEqual(expected.slice(3));
  });

  it("delivers the same events to subscribers that follow live and that come later", async () => {
    const process = await start({ argv: threeSteps, pipeStdin: true });
    const early = transcript(process);
    await printed(process, "event output\n");
    const late = transcript(await subject.backend.attach(process.id));
    await process.write("\n");
    await printed(process, "event err\n");
    const later = transcript(process, 1);
    await process.write("\n");
    expect(await early).toEqual(expected);
    expect(await late).toEqual(expected);
    expect(await later).toEqual(expected.slice(1));
  });

  it("delivers the same events to an iterator, which ends after closed", async () => {
    const deliveries = [];
    for await (const delivery of await stepThrough()) deliveries.push(seen(delivery));
    expect(deliveries).toEqual(expected);
  });

  it("keeps the events from before the first subscriber", async () => {
    const process = await start({ argv: sh("printf 'queued output\\n'"), processId: "queued" });
    await process.read({ afterSeq: 1, waitMs: 10_000 });
    expect(await outcome(process)).toEqual({
      stdout: "queued output\n",
      stderr: "",
      pty: "",
      exitCode: 0,
      signal: null,
    });
  });

  it("delivers output of a grandchild after the exit, and closes only when the grandchild has ended", async () => {
    const release = scratch(uniqueName("release"));
    const argv = fixture("late-output.mjs", release);
    const process = await start({ argv });
    const live = transcript(process);
    const exit = await process.read({ waitMs: 10_000 });
    expect(exit).toEqual({
      chunks: [],
      nextSeq: 2,
      exited: true,
      exitCode: 0,
      signal: null,
      closed: false,
      sandboxDenied: false,
    });
    expect((await subject.backend.list()).find((info) => info.processId === process.id)?.state).toBe("exited");
    writeFileSync(release, "go");
    const late = await process.read({ afterSeq: 1, waitMs: 10_000 });
    expect(late.chunks.map(seen)).toEqual([output(2, "stdout", "late output after exit\n")]);
    const all = [exited(1), output(2, "stdout", "late output after exit\n"), closed(3, { stdout: 23 })];
    expect(await live).toEqual(all);
    expect(await transcript(process)).toEqual(all);
  });

  needs("merge")("keeps the order between stdout and stderr with merge", async () => {
    const script = "i=0; while [ $i -lt 200 ]; do echo out $i; echo err $i >&2; i=$((i + 1)); done";
    const lines = Array.from({ length: 200 }, (_, i) => `out ${i}\nerr ${i}\n`).join("");
    expect(await outcome(await start({ argv: sh(script), merge: true }))).toEqual({
      stdout: lines,
      stderr: "",
      pty: "",
      exitCode: 0,
      signal: null,
    });
  });

  needs("merge")("delivers both streams as stdout with merge", async () => {
    const process = await start({ argv: sh("echo one >&2; read _; echo two"), merge: true, pipeStdin: true });
    await printed(process, "one\n");
    await process.write("\n");
    await printed(process, "two\n");
    expect((await transcript(process)).filter((event) => event.type === "output")).toEqual([
      output(1, "stdout", "one\n"),
      output(2, "stdout", "two\n"),
    ]);
  });

  it("delivers all bytes of a character that a program prints in two halves", async () => {
    const process = await start({ argv: sh("printf '\\303'; read _; printf '\\251'"), pipeStdin: true });
    await printed(process, "\u00c3");
    await process.write("\n");
    expect((await outcome(process)).stdout).toBe("é");
  });

  if (supports.exitAfterOwnOutput) {
    it.each([
      ["pipes", false, "stdout", "a\nb\n"],
      ["a tty", true, "pty", "a\r\nb\r\n"],
    ] as const)(
      "delivers all output of the program itself before its exit, on %s",
      async (_name, tty, stream, text) => {
        for (let run = 0; run < 20; run += 1) {
          const events = await transcript(await start({ argv: sh("echo a; echo b"), tty }));
          expect(events.map(({ type }) => type).filter((type) => type !== "output")).toEqual(["exited", "closed"]);
          expect(events.at(-2)).toEqual(exited(events.length - 1));
          expect(events.at(-1)).toEqual(closed(events.length, { [stream]: text.length }));
        }
      },
    );
  }
});
