// Counting the typed line, according to the modes of a terminal, and reading these modes from the C library.

import { closeSync } from "node:fs";
import { afterAll, describe, expect, it } from "@jest/globals";
import { lineModes, TypedLine } from "../../../../lib/spawn/io/tty-line.ts";
import { Libc } from "../../../../lib/spawn/posix/libc.ts";

const libc = new Libc();
const { master } = libc.openTerminal();
afterAll(() => closeSync(master));

const x = (count: number) => "x".repeat(count);
/** The struct termios of a new terminal, with some bits of c_iflag and c_lflag changed. */
function termios({ input = 0, local = 0 }: { readonly input?: number; readonly local?: number } = {}): Buffer {
  const bytes = libc.termios(master);
  bytes.writeUInt32LE(bytes.readUInt32LE(0) ^ input, 0);
  bytes.writeUInt32LE(bytes.readUInt32LE(12) ^ local, 12);
  return bytes;
}
const [ICRNL, INLCR, IGNCR] = [0o400, 0o100, 0o200];
const [ISIG, ICANON, IEXTEN, NOFLSH] = [0o1, 0o2, 0o100000, 0o200];

/** Types the writes one after another; returns `refused` for each that is refused. */
function type(modes: { readonly input?: number; readonly local?: number }, ...writes: string[]): string[] {
  const line = new TypedLine(() => lineModes(termios(modes)));
  return writes.map((text) => {
    const chunk = Buffer.from(text, "latin1");
    if (line.truncationError(chunk)) return "refused";
    line.reserve(chunk);
    line.submit(chunk);
    return "typed";
  });
}

describe("a typed line", () => {
  it.each<[string, { input?: number; local?: number }, string[]]>([
    ["is ended by a newline", {}, [`${x(4095)}\n`, x(4095)]],
    ["is ended by a return", {}, [`${x(4095)}\r`, x(4095)]],
    ["is ended by the end-of-file character", {}, [`${x(4095)}\x04`, x(4095)]],
    ["is discarded by the kill character", {}, [`${x(4095)}\x15`, x(4095)]],
    ["is discarded by an interrupt", {}, [`${x(4095)}\x03`, x(4095)]],
    ["is shorter after an erase", {}, [`${x(4095)}\x7f`, "x"]],
    ["does not count a quoting character", {}, [`${x(4094)}\x16x`]],
    ["does not count the flow control characters", {}, [`${x(4095)}\x13\x11`]],
    ["does not count returns that are ignored", { input: IGNCR }, [`${x(4095)}\r\r`]],
    ["may have any length in raw mode", { local: ICANON }, [x(5000), x(5000)]],
  ])("%s", (_what, modes, writes) => {
    expect(type(modes, ...writes)).toEqual(writes.map(() => "typed"));
  });

  it.each<[string, { input?: number; local?: number }, string[]]>([
    ["holds 4,095 bytes", {}, [x(4096)]],
    ["may be too long in the middle of a write", {}, [`a\n${x(4096)}\nb\n`]],
    ["continues over several writes", {}, ["a\nb", x(4095)]],
    ["counts bytes, not characters", {}, ["\xc3\xa9".repeat(2048)]],
    ["counts a quoted line end", {}, [`${x(4095)}\x16\n`]],
    ["counts a quoted quoting character once", {}, [`${x(4094)}\x16\x16x`]],
    ["is not ended by a return that is not translated", { input: ICRNL }, [`${x(4095)}\r`]],
    ["is not ended by a newline that becomes a return", { input: INLCR | ICRNL }, [`${x(4095)}\n`]],
    ["counts an interrupt character without ISIG", { local: ISIG }, [`${x(4095)}\x03`]],
    ["survives an interrupt that flushes nothing", { local: NOFLSH }, [`${x(4095)}\x03x`]],
    ["counts a quoting character without IEXTEN", { local: IEXTEN }, [`${x(4095)}\x16`]],
    ["counts zeros, which stand for no character", {}, [`${x(4095)}\0`]],
  ])("%s", (_what, modes, writes) => {
    expect(type(modes, ...writes).at(-1)).toBe("refused");
  });

  it("does not include bytes that a raw terminal accepted before", () => {
    let modes = lineModes(termios({ local: ICANON }));
    const line = new TypedLine(() => modes);
    const chunk = Buffer.from(x(4000));
    line.reserve(chunk);
    line.submit(chunk);
    modes = lineModes(termios());
    expect(line.truncationError(chunk)).toBeUndefined();
    line.reserve(chunk);
    line.submit(chunk);
    expect(line.truncationError(chunk)).toMatchObject({ code: "LIMIT_EXCEEDED", data: { limit: "ttyLine" } });
  });

  it("includes bytes that are reserved and not typed yet", () => {
    const line = new TypedLine(() => lineModes(termios()));
    const chunk = Buffer.from(x(3000));
    line.reserve(chunk);
    expect(line.truncationError(chunk)).toBeDefined();
    line.reserve(Buffer.from("\n"));
    expect(line.truncationError(chunk)).toBeUndefined();
  });
});
