// Bytes as text: UTF-8, or what the program most likely meant. The examples are those of the exec-server, and more.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { HeadTail } from "../../../../lib/exec/head-tail.ts";
import { CapturedOutput } from "../../../../lib/exec/run/captured-output.ts";
import { encodingOf } from "../../../../lib/exec/run/encoding.ts";
import { runs } from "../../../support/fuzz.ts";

async function captured(bytes: Uint8Array, cap = 1024 * 1024): Promise<CapturedOutput> {
  const kept = new HeadTail(cap);
  kept.push(bytes);
  const excerpt = kept.excerpt();
  return new CapturedOutput([{ excerpt, encoding: await encodingOf(excerpt) }]);
}

const latin1 = (text: string) => Buffer.from(text, "latin1");

describe("what a program printed", () => {
  it.each([
    ["UTF-8 of several scripts", "Hello, мир! 世界"],
    ["UTF-8 that looks like mistaken Cyrillic", "ÐŸÑ€Ð¸Ð²ÐµÑ‚"],
    ["escape sequences", "\x1b[31mred\x1b[0m"],
    ["nothing", ""],
  ])("is decoded as valid UTF-8: %s", async (_what, text) => {
    expect(await captured(Buffer.from(text))).toMatchObject({ text, encoding: "utf-8", isLossy: false });
  });

  it("is decoded as UTF-8 whenever it is valid UTF-8", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
        fc.pre(!text.startsWith("\uFEFF"));
        expect((await captured(Buffer.from(text))).text).toBe(text);
      }),
      runs(100),
    );
  });

  it.each([
    ["пример", "\xEF\xF0\xE8\xEC\xE5\xF0", "windows-1251"],
    ["Привет", "\xCF\xF0\xE8\xE2\xE5\xF2", "windows-1251"],
    ["пример", "\xAF\xE0\xA8\xAC\xA5\xE0", "ibm866"],
    ["ПРИ", "\x8F\x90\x88", "ibm866"],
    ["ПРИ test", "\x8F\x90\x88 test", "ibm866"],
    ["“”test", "\x93\x94test", "windows-1252"],
    ["“foo” – “bar”", "\x93foo\x94 \x96 \x93bar\x94", "windows-1252"],
    ["it’s 5 ™", "it\x92s 5 \x99", "windows-1252"],
    ["‘foo •it ", "\x91foo \x95it ", "windows-1252"],
    ["café", "caf\xE9", "windows-1252"],
    ["Fehler in Zeile 5: Größe", "Fehler in Zeile 5: Gr\xF6\xDFe", "windows-1252"],
    ["señor año", "se\xF1or a\xF1o", "windows-1252"],
    ["привет", "\xD0\xD2\xC9\xD7\xC5\xD4", "koi8-r"],
    ["错误: 拒绝访问。", "\xB4\xED\xCE\xF3: \xBE\xDC\xBE\xF8\xB7\xC3\xCE\xCA\xA1\xA3", "gb18030"],
    ["エラー", "\x83\x47\x83\x89\x81\x5B", "shift_jis"],
    ["오류", "\xBF\xC0\xB7\xF9", "euc-kr"],
    ["\ufeffhi", "\xFF\xFEh\0i\0", "utf-16le"],
    ["\ufeffhi", "\xFE\xFF\0h\0i", "utf-16be"],
  ])("is decoded as %j", async (text, bytes, encoding) => {
    expect(await captured(latin1(bytes))).toMatchObject({ text, encoding, isLossy: false });
  });

  it.each([
    ["invalid text", "\xFF\xFE\xFD", "\uFFFD\uFFFD\uFFFD"],
    ["a binary", "\x7FELF\x02\x01\x01\0\0\0\xFF\xC0\x80\0\0", "\x7FELF\x02\x01\x01\0\0\0\uFFFD\uFFFD\uFFFD\0\0"],
    ["UTF-8 that ends within a character", "na\xC3\xAFve caf\xC3", "naïve caf\uFFFD"],
    ["UTF-8 with a bad byte", "\xC3\xA4\xC3\xB6\xC3\xBC\xC3\x9F \xFF ok", "äöüß \uFFFD ok"],
  ])("shows replacement characters for invalid bytes: %s", async (_what, bytes, text) => {
    const output = await captured(latin1(bytes));
    expect(output).toMatchObject({ text, encoding: "utf-8", isLossy: true });
    expect(output.toJSON().base64).toBe(latin1(bytes).toString("base64"));
  });

  it("is not mistaken for another encoding because it was cut within a character", async () => {
    const text = "€".repeat(1000);
    for (const cap of [100, 101, 102, 103]) {
      const output = await captured(Buffer.from(text), cap);
      expect(output).toMatchObject({ encoding: "utf-8", isLossy: false });
      expect(output.text).toMatch(/^€{16,17}\n\[\.\.\. \d+ bytes omitted \.\.\.\]\n€{16,17}$/);
    }
  });

  it("is recognized as another encoding even if only its end shows that", async () => {
    const bytes = Buffer.concat([Buffer.alloc(11 * 30_000, "plain text\n"), latin1("\xEF\xF0\xE8\xEC\xE5\xF0\n")]);
    const output = await captured(bytes, 1000);
    expect(output).toMatchObject({ encoding: "windows-1251", isLossy: false });
    expect(output.text.endsWith("plain text\nпример\n")).toBe(true);
    const line = Buffer.concat([Buffer.alloc(400_000, "one line "), latin1("\xEF\xF0\xE8\xEC\xE5\xF0")]);
    expect((await captured(line)).encoding).toBe("windows-1251");
  });
});
