// The ways to watch a process beside its events: output$, exit$, closed$, pulling, text and lines.
import { expect, it } from "@jest/globals";
import { firstValueFrom, map, toArray } from "rxjs";
import type { Process } from "../../lib/process/process.ts";
import { type LinesOptions, lines, type TextOptions, text } from "../../lib/process/text.ts";
import { end, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { closed, exited, output, seen } from "../support/transcript.ts";
import { describeBackends } from "./backends.ts";

/** Prints each line of input, with the escapes of printf, as one chunk; a line that begins with `!` goes to stderr, `.` ends it. */
const speaker = sh(
  'while IFS= read -r line; do case $line in .) exit;; !*) printf "%b" "$(expr "$line" : "!\\(.*\\)")" >&2;; *) printf "%b" "$line";; esac; done',
);

const textOf = (process: Process, options?: TextOptions) =>
  firstValueFrom(text(process, options).pipe(toArray())).then((pieces) => pieces.join(""));
const linesOf = (process: Process, options?: LinesOptions) => firstValueFrom(lines(process, options).pipe(toArray()));

describeBackends("observing", ({ start }) => {
  /** A process that printed these pieces one by one, and ended. */
  const speak = async (...pieces: readonly string[]) => {
    const process = await start({ argv: speaker, pipeStdin: true });
    for (const [index, piece] of pieces.entries()) {
      await process.write(`${piece}\n`);
      await process.read({ afterSeq: index, waitMs: 10_000 });
    }
    await process.write(".\n");
    await end(process);
    return process;
  };

  it("shows only output in output$, and completes it at the end", async () => {
    const process = await speak("one", "!two", "three");
    expect(await firstValueFrom(process.output$.pipe(map(seen), toArray()))).toEqual([
      output(1, "stdout", "one"),
      output(2, "stderr", "two"),
      output(3, "stdout", "three"),
    ]);
  });

  it("emits exit and end once each, before or after they happened, and completes", async () => {
    const process = await start({ argv: sh("read _"), pipeStdin: true });
    const collect = () =>
      Promise.all([firstValueFrom(process.exit$.pipe(toArray())), firstValueFrom(process.closed$.pipe(toArray()))]);
    const early = collect();
    await process.write("\n");
    const expected = [[exited(1)], [closed(2)]];
    expect(await early).toEqual(expected);
    expect(await collect()).toEqual(expected);
  });

  it("shows in its info what an event tells of, to whoever is told", async () => {
    const process = await start({ argv: sh("read _; exit 3"), pipeStdin: true });
    const told: unknown[] = [];
    process.exit$.subscribe(() => told.push(["exit", process.info.exitCode]));
    process.closed$.subscribe(() => told.push(["closed", process.info.exitCode]));
    await process.write("\n");
    await end(process);
    expect(told).toEqual([
      ["exit", 3],
      ["closed", 3],
    ]);
  });

  it("counts in closed the bytes of each stream", async () => {
    const process = await speak("12345", "!123", "é");
    expect(await firstValueFrom(process.closed$)).toEqual(closed(5, { stdout: 7, stderr: 3 }));
  });

  it("stops telling whoever unsubscribed, and goes on with the others", async () => {
    const process = await start({ argv: ["cat"], pipeStdin: true });
    const told: unknown[] = [];
    const subscription = process.events().subscribe((event) => told.push(seen(event)));
    await process.write("one\n");
    await printed(process, "one\n");
    subscription.unsubscribe();
    await process.write("two\n");
    await printed(process, "two\n");
    expect(told).toEqual([output(1, "stdout", "one\n")]);
    await process.terminate({ graceMs: 0 });
  });

  it("waits for the one who pulls, and may be left at any time", async () => {
    const process = await start({ argv: sh("read -r line; echo $line; read _"), pipeStdin: true });
    const iterator = process.iterate();
    const first = iterator.next();
    const second = iterator.next();
    await process.write("one\n");
    expect(seen((await first).value as never)).toEqual(output(1, "stdout", "one\n"));
    expect(await iterator.return()).toEqual({ done: true, value: undefined });
    expect(await second).toEqual({ done: true, value: undefined });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    await process.write("\n");
    const rest = [];
    for await (const event of process.iterate({ afterSeq: 1 })) rest.push(event);
    expect(rest).toEqual([exited(2), closed(3, { stdout: 4 })]);
  });

  it("reads one stream or all as text", async () => {
    const process = await speak("a", "!b", "c");
    expect(await textOf(process)).toBe("abc");
    expect(await textOf(process, { stream: "stdout" })).toBe("ac");
    expect(await textOf(process, { stream: "stderr" })).toBe("b");
    expect(await textOf(process, { stream: "pty" })).toBe("");
  });

  it("puts a character together whose bytes came apart, even with another stream in between", async () => {
    const process = await speak("<\\360\\237", "!(\\303", "\\230\\200>", "!\\251)");
    expect(await textOf(process, { stream: "stdout" })).toBe("<😀>");
    expect(await textOf(process, { stream: "stderr" })).toBe("(é)");
    expect(await textOf(process)).toBe("<(😀>é)");
  });

  it("replaces what is no text, also a character that never ends", async () => {
    const process = await speak("a\\377b\\303");
    expect(await textOf(process)).toBe("a\ufffdb\ufffd");
    expect(await textOf(process, { encoding: "latin1" })).toBe("aÿbÃ");
  });

  it("cuts lines wherever the chunks end, with or without carriage return", async () => {
    const process = await speak("one\\ntw", "o\\r", "\\n\\n", "\\rx\\r\\nlast");
    const expected = ["one", "two", "", "\rx", "last"].map((line) => ({ stream: "stdout", text: line }));
    expect(await linesOf(process)).toEqual(expected);
  });

  it("keeps the lines of two streams apart", async () => {
    const process = await speak("out ", "!err ", "one\\n", "!two\\n");
    expect(await linesOf(process)).toEqual([
      { stream: "stdout", text: "out one" },
      { stream: "stderr", text: "err two" },
    ]);
    expect(await linesOf(process, { stream: "stderr" })).toEqual([{ stream: "stderr", text: "err two" }]);
  });

  it("cuts a line that is too long", async () => {
    const process = await speak("abcdefgh", "ij\\nklm\\nno");
    const texts = (await linesOf(process, { maxLength: 4 })).map((line) => line.text);
    expect(texts).toEqual(["abcd", "efgh", "ij", "klm", "no"]);
  });

  it("has no lines where nothing was printed", async () => {
    expect(await linesOf(await speak())).toEqual([]);
  });
});
