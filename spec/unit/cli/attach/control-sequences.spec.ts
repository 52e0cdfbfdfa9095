// Control sequences in a terminal's output, however chunks split them.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { ControlSequences } from "../../../../lib/cli/attach/control-sequences.ts";

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

/** Filters chunks; returns the text that is kept and the sequences that were found. */
function filtered(chunks: readonly string[], keep: (sequence: string) => boolean) {
  const sequences: string[] = [];
  const filter = new ControlSequences();
  const kept = chunks.map((chunk) =>
    latin1(
      filter.filter(Buffer.from(chunk, "latin1"), (sequence) => {
        sequences.push(sequence);
        return keep(sequence);
      }),
    ),
  );
  return { kept, sequences };
}

const PIECES = [
  "text",
  "\n",
  "\xc4\x9b",
  "\x1b[31m",
  "\x1b[?1049h",
  "\x1b[6n",
  "\x1b]0;title\x07",
  "\x1b]11;?\x1b\\",
  "\x1bP+q544e\x1b\\",
  "\x1b(0",
  "\x1b7",
  "\x0e",
  "\x05",
  "\x1b_Ga=q;\x1b\\",
  "\x1b[1\x18",
  "\x1b\x1b[2m",
  "\x1bPtmux;\x1b\x1b[6n\x1b\\",
];

describe("control sequences in output", () => {
  it.each([
    ["CSI", "a\x1b[1;31mb", ["\x1b[1;31m"]],
    ["OSC that ends with BEL", "a\x1b]0;t\x07b", ["\x1b]0;t\x07"]],
    ["OSC that ends with ST", "\x1b]10;?\x1b\\", ["\x1b]10;?\x1b\\"]],
    ["a DCS that holds escaped sequences", "\x1bPtmux;\x1b\x1b[6n\x1b\\", ["\x1bPtmux;\x1b\x1b[6n\x1b\\"]],
    ["a charset", "\x1b(0x", ["\x1b(0"]],
    ["a sequence that another one interrupts", "\x1b[1\x1b[2m", ["\x1b[2m"]],
    ["a sequence that is aborted", "\x1b[1\x18m", ["\x1b[1\x18"]],
    ["characters of UTF-8 whose bytes are C1 controls", "\xc4\x9b6n", []],
  ])("are found: %s", (_name, output, sequences) => {
    expect(filtered([output], () => true)).toEqual({ kept: [output], sequences });
  });

  it("are held back until they are complete, and dropped as a whole", () => {
    expect(filtered(["a\x1b[", "6", "nb\x1b", "[1mc"], (sequence) => !sequence.endsWith("n")).kept).toEqual([
      "a",
      "",
      "b",
      "\x1b[1mc",
    ]);
  });

  it("pass as text beyond 4 KiB, such as an image", () => {
    const image = `\x1bPq${"~".repeat(20_000)}\x1b\\`;
    expect(filtered([image.slice(0, 9_000), image.slice(9_000)], () => false).kept.join("")).toBe(image.slice(0, -2));
  });

  it("are the same in whatever chunks they come", () => {
    const cuts = fc.array(fc.nat(200), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 20 }), cuts, (pieces, at) => {
        const whole = pieces.join("");
        const sorted = [0, ...at, whole.length].map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b);
        const chunks = sorted.slice(1).map((end, index) => whole.slice(sorted[index], end));
        const keep = (sequence: string) => !sequence.includes("n");
        const [one, many] = [filtered([whole], keep), filtered(chunks, keep)];
        expect(many.kept.join("")).toBe(one.kept.join(""));
        expect(many.sequences).toEqual(one.sequences);
        expect(filtered(chunks, () => true).kept.join("")).toBe(whole);
      }),
    );
  });
});
