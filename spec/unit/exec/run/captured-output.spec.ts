// What a caller gets of a stream: bytes, the position of a loss, text, and plain data.
import { describe, expect, it } from "@jest/globals";
import type { Excerpt } from "../../../../lib/exec/head-tail.ts";
import { CapturedOutput } from "../../../../lib/exec/run/captured-output.ts";

const encoding = { label: "utf-8", isLossy: false };
const stream = (head: string, tail = "", omittedBytes = 0) => {
  const excerpt: Excerpt = { head: Buffer.from(head), tail: Buffer.from(tail), omittedBytes };
  return { excerpt, encoding };
};

describe("captured output", () => {
  it("says in the text where bytes are missing, on a line of its own", () => {
    expect(new CapturedOutput([stream("begin", "end", 5)]).text).toBe("begin\n[... 5 bytes omitted ...]\nend");
    expect(new CapturedOutput([stream("begin\n", "end\n", 5)]).text).toBe("begin\n[... 5 bytes omitted ...]\nend\n");
    expect(new CapturedOutput([stream("", "", 5)]).text).toBe("[... 5 bytes omitted ...]\n");
  });

  it("joins head and tail where nothing is missing, also within a character", () => {
    const euro = Buffer.from("€");
    const excerpt = { head: euro.subarray(0, 1), tail: euro.subarray(1), omittedBytes: 0 };
    expect(new CapturedOutput([{ excerpt, encoding }]).text).toBe("€");
  });

  it("counts lost bytes, and reports their position in the bytes, for several streams too", () => {
    const both = new CapturedOutput([stream("aa", "b", 10), stream("ccc"), stream("d", "", 7)]);
    expect(Buffer.from(both.bytes).toString()).toBe("aabcccd");
    expect(both.omissions).toEqual([
      { at: 2, bytes: 10 },
      { at: 7, bytes: 7 },
    ]);
    expect([both.totalBytes, both.omittedBytes]).toEqual([24, 17]);
  });

  it("decodes each stream by its own encoding", () => {
    const cyrillic = { excerpt: stream("").excerpt, encoding };
    const output = new CapturedOutput([
      stream("ö"),
      {
        excerpt: { ...cyrillic.excerpt, head: Buffer.from([0xef]) },
        encoding: { label: "windows-1251", isLossy: false },
      },
    ]);
    expect(output.text).toBe("öп");
  });

  it("becomes plain data in JSON", () => {
    expect(JSON.parse(JSON.stringify(new CapturedOutput([stream("a\n", "z\n", 3)])))).toEqual({
      text: "a\n[... 3 bytes omitted ...]\nz\n",
      encoding: "utf-8",
      totalBytes: 7,
      omittedBytes: 3,
    });
  });
});
