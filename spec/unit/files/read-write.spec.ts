// Whole files in pieces, and which files are opened: none that could make a reader or a writer wait.
import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdirSync, openSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { readPieces, writeWhole } from "../../../lib/files/read-write.ts";
import { makeScratch } from "../../support/scratch.ts";

const scratch = makeScratch();
const pathOf = (name: string) => Buffer.from(scratch(name));

async function read(path: string, options: { maxBytes?: number; pieceBytes?: number; followSymlinks?: boolean } = {}) {
  const pieces: string[] = [];
  const bounds = { maxBytes: 1000, pieceBytes: 4, ...options };
  for await (const piece of readPieces(Buffer.from(path), bounds)) pieces.push(piece.toString());
  return pieces;
}

writeFileSync(scratch("ten"), "0123456789");
writeFileSync(scratch("eight"), "01234567");
writeFileSync(scratch("empty"), "");
mkdirSync(scratch("folder"));
symlinkSync("ten", scratch("link"));
symlinkSync(".", scratch("here"));
execFileSync("mkfifo", [scratch("fifo")]);

describe("reading a file", () => {
  it("returns full pieces, and a last one that may be shorter", async () => {
    expect(await read(scratch("ten"))).toEqual(["0123", "4567", "89"]);
    expect(await read(scratch("eight"))).toEqual(["0123", "4567"]);
    expect(await read(scratch("empty"))).toEqual([]);
  });

  it("reads a file without a size, like those in /proc", async () => {
    const pieces = await read("/proc/version", { pieceBytes: 3 });
    expect(pieces.join("")).toBe(readFileSync("/proc/version", "utf8"));
  });

  it("accepts a file of the largest size, and refuses one byte more", async () => {
    expect((await read(scratch("ten"), { maxBytes: 10 })).join("")).toBe("0123456789");
    await expect(read(scratch("ten"), { maxBytes: 9 })).rejects.toMatchObject({
      reason: "tooLarge",
      message: "file is too large to read: limit is 9 bytes",
    });
    await expect(read("/proc/version", { maxBytes: 9 })).rejects.toMatchObject({ reason: "tooLarge" });
  });

  it("refuses everything but files, including a FIFO without a writer", async () => {
    for (const path of [scratch("folder"), scratch("fifo"), "/dev/zero"]) {
      await expect(read(path)).rejects.toMatchObject({ reason: "notAFile", message: `path \`${path}\` is not a file` });
    }
    await expect(read(scratch("nothing"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("follows links, or none on request", async () => {
    expect((await read(scratch("here/link"))).join("")).toBe("0123456789");
    expect((await read(scratch("ten"), { followSymlinks: false })).join("")).toBe("0123456789");
    await expect(read(scratch("link"), { followSymlinks: false })).rejects.toMatchObject({ code: "ELOOP" });
    await expect(read(scratch("here/ten"), { followSymlinks: false })).rejects.toMatchObject({ code: "ENOTDIR" });
    await expect(read(scratch("fifo"), { followSymlinks: false })).rejects.toMatchObject({ reason: "notAFile" });
  });
});

describe("writing a file", () => {
  it("creates it, or replaces its contents and keeps its mode", async () => {
    await writeWhole(pathOf("made"), Buffer.from("a longer text"));
    await writeWhole(pathOf("made"), Buffer.from("short"));
    expect(readFileSync(scratch("made"), "utf8")).toBe("short");
    writeFileSync(scratch("program"), "", { mode: 0o755 });
    await writeWhole(pathOf("program"), Buffer.from("x"));
    expect(statSync(scratch("program")).mode & 0o777).toBe(0o755);
  });

  it("does not create the folder", async () => {
    await expect(writeWhole(pathOf("none/x"), Buffer.alloc(1))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("writes through a link, unless that is forbidden", async () => {
    symlinkSync("behind", scratch("before"));
    await expect(writeWhole(pathOf("before"), Buffer.from("x"), { followSymlinks: false })).rejects.toMatchObject({
      code: "ELOOP",
    });
    await writeWhole(pathOf("before"), Buffer.from("y"));
    expect(readFileSync(scratch("behind"), "utf8")).toBe("y");
    await writeWhole(pathOf("behind"), Buffer.from("z"), { followSymlinks: false });
    expect(readFileSync(scratch("behind"), "utf8")).toBe("z");
  });

  it("does not wait for the reader of a FIFO, and writes to no FIFO", async () => {
    await expect(writeWhole(pathOf("fifo"), Buffer.from("x"))).rejects.toMatchObject({ code: "ENXIO" });
    const reader = openSync(scratch("fifo"), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      await expect(writeWhole(pathOf("fifo"), Buffer.from("x"))).rejects.toMatchObject({ reason: "notAFile" });
    } finally {
      closeSync(reader);
    }
  });

  it("writes to a device, and reports if that is full", async () => {
    await writeWhole(Buffer.from("/dev/null"), Buffer.from("x"));
    await expect(writeWhole(Buffer.from("/dev/full"), Buffer.from("x"))).rejects.toMatchObject({ code: "ENOSPC" });
  });

  it("accepts a name that is not UTF-8", async () => {
    const path = Buffer.concat([pathOf("name-"), Buffer.from([0xff, 0xfe])]);
    await writeWhole(path, Buffer.from("x"));
    expect(readFileSync(path, "utf8")).toBe("x");
  });
});
