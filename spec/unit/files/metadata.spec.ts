// The metadata of a path, and of the links in it.
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { readMetadata, realPath } from "../../../lib/files/metadata.ts";
import { makeScratch } from "../../support/scratch.ts";

const scratch = makeScratch();
const pathOf = (name: string) => Buffer.from(scratch(name));

writeFileSync(scratch("file"), "hello");
utimesSync(scratch("file"), 1.5, 1234.5678);
mkdirSync(scratch("folder"));
writeFileSync(scratch("folder/inner"), "");
symlinkSync("file", scratch("link"));
symlinkSync("folder", scratch("folder-link"));
symlinkSync("nothing", scratch("dangling"));
symlinkSync("loop", scratch("loop"));
execFileSync("mkfifo", [scratch("fifo")]);

describe("the metadata of a path", () => {
  it("has times in whole milliseconds", async () => {
    const { createdAtMs, ...rest } = await readMetadata(pathOf("file"));
    expect(rest).toEqual({ isDirectory: false, isFile: true, isSymlink: false, size: 5, modifiedAtMs: 1_234_567 });
    expect(Number.isInteger(createdAtMs)).toBe(true);
  });

  it("is that of the target of a link, and reports the link", async () => {
    expect(await readMetadata(pathOf("link"))).toMatchObject({ isFile: true, isSymlink: true, size: 5 });
    expect(await readMetadata(pathOf("folder-link"))).toMatchObject({ isDirectory: true, isSymlink: true });
    await expect(readMetadata(pathOf("dangling"))).rejects.toMatchObject({ code: "ENOENT" });
    await expect(readMetadata(pathOf("loop"))).rejects.toMatchObject({ code: "ELOOP" });
  });

  it("reports a FIFO and a device as neither file nor folder", async () => {
    for (const path of [pathOf("fifo"), Buffer.from("/dev/null")]) {
      expect(await readMetadata(path)).toMatchObject({ isFile: false, isDirectory: false, isSymlink: false });
    }
  });

  it("refuses links if they must not be followed", async () => {
    const options = { followSymlinks: false };
    for (const name of ["link", "dangling", "loop"]) {
      await expect(readMetadata(pathOf(name), options)).rejects.toMatchObject({ reason: "symbolicLink" });
    }
    await expect(readMetadata(pathOf("folder-link/inner"), options)).rejects.toMatchObject({ code: "ENOTDIR" });
    expect(await readMetadata(pathOf("folder/inner"), options)).toMatchObject({ isFile: true });
    expect(await readMetadata(Buffer.from("/"), options)).toMatchObject({ isDirectory: true });
  });
});

describe("the real path", () => {
  it("contains no symbolic links", async () => {
    expect((await realPath(pathOf("folder-link/inner"))).toString()).toBe(
      (await realPath(pathOf("folder/inner"))).toString(),
    );
    await expect(realPath(pathOf("dangling"))).rejects.toMatchObject({ code: "ENOENT" });
  });
});
