// The table of open files: ids, blocks, and that no file stays open.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "@jest/globals";
import { OpenFiles } from "../../../lib/files/open-files.ts";
import { makeScratch } from "../../support/scratch.ts";

const scratch = makeScratch();
const pathOf = (name: string) => Buffer.from(scratch(name));
const text = (value: string) => Buffer.from(value);

/** Files of the spec's folder that this program has open. */
function openNames(): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(scratch("")) ? [target.slice(scratch("").length)] : [];
    } catch {
      return [];
    }
  });
}

let files = new OpenFiles({ maxOpen: 3 });
afterEach(async () => {
  await files.closeAll();
  expect(openNames()).toEqual([]);
  files = new OpenFiles({ maxOpen: 3 });
});

describe("reading blocks", () => {
  it("reports the end if fewer bytes came than requested", async () => {
    writeFileSync(scratch("hello"), "hello\n");
    await files.open("", pathOf("hello"), "read");
    const read = async (offset: number, length: number) => {
      const { bytes, eof } = await files.read("", offset, length);
      return [bytes.toString(), eof];
    };
    expect(await read(0, 3)).toEqual(["hel", false]);
    expect(await read(0, 6)).toEqual(["hello\n", false]);
    expect(await read(0, 7)).toEqual(["hello\n", true]);
    expect(await read(6, 1)).toEqual(["", true]);
    expect(await read(1000, 10)).toEqual(["", true]);
    expect(await read(2 ** 53 + 2, 10)).toEqual(["", true]);
    await expect(read(2 ** 63, 1)).rejects.toMatchObject({ code: "EINVAL" });
  });

  it("continues after the file was removed", async () => {
    writeFileSync(scratch("removed"), "still here");
    await files.open("f", pathOf("removed"), "read");
    rmSync(scratch("removed"));
    expect((await files.read("f", 6, 4)).bytes.toString()).toBe("here");
  });

  it("does not read a file that is open only for writing", async () => {
    await files.open("f", pathOf("written"), "replace");
    await expect(files.read("f", 0, 1)).rejects.toMatchObject({ code: "EBADF" });
  });
});

describe("writing blocks", () => {
  it("overwrites at any offset", async () => {
    writeFileSync(scratch("place"), "what was there before");
    await files.open("f", pathOf("place"), "replace");
    expect(readFileSync(scratch("place"), "utf8")).toBe("");
    await files.write("f", 4, text("b"));
    await files.write("f", 0, text("a"));
    expect(readFileSync(scratch("place"), "latin1")).toBe("a\0\0\0b");
  });

  it("refuses impossible offsets instead of writing elsewhere", async () => {
    await files.open("f", pathOf("far"), "replace");
    await expect(files.write("f", 2 ** 53, text("x"))).rejects.toMatchObject({ code: "EFBIG" });
    await expect(files.write("f", 2 ** 63, text("x"))).rejects.toMatchObject({ reason: "writeRange" });
    expect(readFileSync(scratch("far"), "utf8")).toBe("");
  });

  it("does not write to a file that is open only for reading", async () => {
    writeFileSync(scratch("read only"), "x");
    await files.open("f", pathOf("read only"), "read");
    await expect(files.write("f", 0, text("y"))).rejects.toMatchObject({ code: "EBADF" });
  });
});

describe("the ids of open files", () => {
  it("are in use from the call on, and free again after a failure", async () => {
    writeFileSync(scratch("one"), "1");
    const first = files.open("f", pathOf("one"), "read");
    await expect(files.open("f", pathOf("nothing"), "read")).rejects.toMatchObject({ reason: "handleExists" });
    await first;
    await expect(files.open("g", pathOf("nothing"), "read")).rejects.toMatchObject({ code: "ENOENT" });
    await files.open("g", pathOf("one"), "read");
  });

  it("are limited in number", async () => {
    writeFileSync(scratch("many"), "");
    const opening = ["a", "b", "c", "d"].map((id) => files.open(id, pathOf("many"), "read"));
    const outcomes = await Promise.allSettled(opening);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected"]);
    expect(outcomes[3]).toMatchObject({
      reason: { reason: "tooManyHandles", message: "at most 3 file handles may be open per connection" },
    });
    await files.close("a");
    await files.open("d", pathOf("many"), "read");
  });

  it("are unknown once closed, and closing may be repeated", async () => {
    writeFileSync(scratch("closed"), "");
    await files.open("f", pathOf("closed"), "read");
    await files.close("f");
    await files.close("f");
    await expect(files.read("f", 0, 1)).rejects.toMatchObject({
      reason: "handleUnknown",
      message: "unknown file handle `f`",
    });
  });

  it("name regular files only", async () => {
    execFileSync("mkfifo", [scratch("fifo")]);
    mkdirSync(scratch("folder"));
    for (const path of [pathOf("fifo"), pathOf("folder"), text("/dev/null")]) {
      await expect(files.open("f", path, "read")).rejects.toMatchObject({ reason: "notAFile" });
    }
    await expect(files.open("f", text("/dev/null"), "replace")).rejects.toMatchObject({ reason: "notAFile" });
    await expect(files.open("f", pathOf("fifo"), "replace")).rejects.toMatchObject({ code: "ENXIO" });
  });
});

describe("closing all files", () => {
  it("closes those that are still being opened, and lets a read finish", async () => {
    writeFileSync(scratch("busy"), "busy");
    await files.open("f", pathOf("busy"), "read");
    // More bytes than the file has take a second read, to find the end.
    const reading = files.read("f", 0, 10);
    const opening = files.open("g", pathOf("busy"), "read");
    await files.closeAll();
    expect((await reading).bytes.toString()).toBe("busy");
    await opening;
    expect(openNames()).toEqual([]);
  });
});
