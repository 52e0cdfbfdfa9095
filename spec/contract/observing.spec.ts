// The views of a process besides its events: output$, exit$, closed$, iteration, text and lines.
import { expect, it } from "@jest/globals";
import { firstValueFrom, map, toArray } from "rxjs";
import { type LinesOptions, lines } from "../../lib/process/lines.ts";
import type { Process } from "../../lib/process/process.ts";
import { type TextOptions, text } from "../../lib/process/text.ts";
import { end, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { closed, exited, output, seen } from "../support/transcript.ts";
import { describeBackends } from "./backends.ts";

/** Prints each line of input as one chunk, with the escapes of printf; a line after `!` goes to stderr, `.` ends the program. */
const printer = sh(
  'while IFS= read -r line; do case $line in .) exit;; !*) printf "%b" "$(expr "$line" : "!\\(.*\\)")" >&2;; *) printf "%b" "$line";; esac; done',
);

const textOf = (process: Process, options?: TextOptions) =>
  firstValueFrom(text(process, options).pipe(toArray())).then((pieces) => pieces.join(""));
const linesOf = (process: Process, options?: LinesOptions) => firstValueFrom(lines(process, options).pipe(toArray()));

describeBackends("observing", ({ start }) => {
  /** A closed process that has printed these pieces one by one. */
  const printing = async (...pieces: readonly string[]) => {
    const process = await start({ argv: printer, pipeStdin: true });
    for (const [index, piece] of pieces.entries()) {
      await process.write(`${piece}\n`);
      await process.read({ afterSeq: index, waitMs: 10_000 });
    }
    await process.write(".\n");
    await end(process);
    return process;
  };

  it("emits only output in output$, which completes at the end", async () => {
    const process = await printing("one", "!two", "three");
    expect(await firstValueFrom(process.output$.pipe(map(seen), toArray()))).toEqual([
      output(1, "stdout", "one"),
      output(2, "stderr", "two"),
      output(3, "stdout", "three"),
    ]);
  });

  it("emits exit and end once to early and late subscribers, and completes", async () => {
    const process = await start({ argv: sh("read _"), pipeStdin: true });
    const collect = () =>
      Promise.all([firstValueFrom(process.exit$.pipe(toArray())), firstValueFrom(process.closed$.pipe(toArray()))]);
    const early = collect();
    await process.write("\n");
    const expected = [[exited(1)], [closed(2)]];
    expect(await early).toEqual(expected);
    expect(await collect()).toEqual(expected);
  });

  it("shows the exit in its info when a subscriber of the exit is notified", async () => {
    const process = await start({ argv: sh("read _; exit 3"), pipeStdin: true });
    const seenExits: unknown[] = [];
    process.exit$.subscribe(() => seenExits.push(["exit", process.info.exitCode]));
    process.closed$.subscribe(() => seenExits.push(["closed", process.info.exitCode]));
    await process.write("\n");
    await end(process);
    expect(seenExits).toEqual([
      ["exit", 3],
      ["closed", 3],
    ]);
  });

  it("counts the bytes of each stream in closed", async () => {
    const process = await printing("12345", "!123", "é");
    expect(await firstValueFrom(process.closed$)).toEqual(closed(5, { stdout: 7, stderr: 3 }));
  });

  it("delivers nothing more after unsubscribe, and still delivers to others", async () => {
    const process = await start({ argv: ["cat"], pipeStdin: true });
    const events: unknown[] = [];
    const subscription = process.events().subscribe((event) => events.push(seen(event)));
    await process.write("one\n");
    await printed(process, "one\n");
    subscription.unsubscribe();
    await process.write("two\n");
    await printed(process, "two\n");
    expect(events).toEqual([output(1, "stdout", "one\n")]);
    await process.terminate({ graceMs: 0 });
  });

  it("lets an iterator pull events at its own pace, and return at any time", async () => {
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

  it("decodes one stream or all streams as text", async () => {
    const process = await printing("a", "!b", "c");
    expect(await textOf(process)).toBe("abc");
    expect(await textOf(process, { stream: "stdout" })).toBe("ac");
    expect(await textOf(process, { stream: "stderr" })).toBe("b");
    expect(await textOf(process, { stream: "pty" })).toBe("");
  });

  it("decodes a character that is split over chunks, also with another stream in between", async () => {
    const process = await printing("<\\360\\237", "!(\\303", "\\230\\200>", "!\\251)");
    expect(await textOf(process, { stream: "stdout" })).toBe("<😀>");
    expect(await textOf(process, { stream: "stderr" })).toBe("(é)");
    expect(await textOf(process)).toBe("<(😀>é)");
  });

  it("replaces invalid bytes, also an incomplete character at the end", async () => {
    const process = await printing("a\\377b\\303");
    expect(await textOf(process)).toBe("a\ufffdb\ufffd");
    expect(await textOf(process, { encoding: "latin1" })).toBe("aÿbÃ");
  });

  it("splits lines independently of chunks, with or without carriage return", async () => {
    const process = await printing("one\\ntw", "o\\r", "\\n\\n", "\\rx\\r\\nlast");
    const expected = [
      [1, "one"],
      [3, "two"],
      [3, ""],
      [4, "\rx"],
      [4, "last"],
    ] as const;
    expect(await linesOf(process)).toEqual(expected.map(([seq, line]) => ({ stream: "stdout", seq, text: line })));
  });

  it("keeps the lines of two streams apart", async () => {
    const process = await printing("out ", "!err ", "one\\n", "!two\\n");
    const err = { stream: "stderr", seq: 4, text: "err two" };
    expect(await linesOf(process)).toEqual([{ stream: "stdout", seq: 3, text: "out one" }, err]);
    expect(await linesOf(process, { stream: "stderr" })).toEqual([err]);
  });

  it("cuts a line that is longer than maxLength, tells so, and splits no character", async () => {
    const cutLines = async (parts: readonly string[], maxLength: number) => {
      const found = await linesOf(await printing(...parts), { maxLength });
      return found.map(({ text: line, isCut }) => (isCut ? `${line}~` : line));
    };
    expect(await cutLines(["abcdefgh", "ij\\nklm\\nno"], 4)).toEqual(["abcd~", "efgh~", "ij", "klm", "no"]);
    expect(await cutLines(["abcd", "\\r", "\\nefghi"], 4)).toEqual(["abcd", "efgh~", "i"]);
    expect(await cutLines(["a\\360\\237\\230\\200\\360\\237", "\\230\\200b"], 2)).toEqual(["a~", "😀~", "😀~", "b"]);
  });

  it("treats a byte order mark as a character", async () => {
    const process = await printing("\\357\\273\\277a\\n");
    expect(await textOf(process)).toBe("\ufeffa\n");
    expect(await linesOf(process)).toEqual([{ stream: "stdout", seq: 1, text: "\ufeffa" }]);
    expect(await textOf(await printing("\\377\\376a\\000"), { encoding: "utf-16le" })).toBe("\ufeffa");
  });

  it("emits no line when nothing was printed", async () => {
    expect(await linesOf(await printing())).toEqual([]);
  });
});
