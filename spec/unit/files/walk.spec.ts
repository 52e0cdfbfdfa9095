// Walking trees: the order, what is omitted, the limits, and that a walk ends.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { listDirectory } from "../../../lib/files/list-directory.ts";
import { type WalkOptions, walk } from "../../../lib/files/walk.ts";
import { makeScratch } from "../../support/scratch.ts";

const scratch = makeScratch();
const pathOf = (name: string) => Buffer.from(scratch(name));

// tree/: .hidden/secret, b/inner, b/up -> .., a, pipe (a FIFO), link -> a, folder-link -> b, dangling -> nothing
mkdirSync(scratch("tree/.hidden"), { recursive: true });
mkdirSync(scratch("tree/b"));
for (const name of [".hidden/secret", "b/inner", "a"]) writeFileSync(scratch(`tree/${name}`), "");
symlinkSync("..", scratch("tree/b/up"));
symlinkSync("a", scratch("tree/link"));
symlinkSync("b", scratch("tree/folder-link"));
symlinkSync("nothing", scratch("tree/dangling"));
execFileSync("mkfifo", [scratch("tree/pipe")]);

const generous = { maxDepth: 10, maxDirectories: 100, maxEntries: 100, followDirectorySymlinks: false };

async function walked(root: string, options: Partial<WalkOptions> = {}) {
  const { entries, errors, truncated } = await walk(pathOf(root), { ...generous, ...options });
  const short = (path: Buffer) => path.toString().slice(scratch(root).length + 1);
  return {
    found: entries.map(({ path, kind }) => (kind === "directory" ? `${short(path)}/` : short(path))),
    failed: errors.map(({ path }) => short(path)),
    truncated,
  };
}

describe("a walk through a tree", () => {
  it("goes breadth first by name, and omits links and FIFOs", async () => {
    expect(await walked("tree")).toEqual({
      found: [".hidden/", "a", "b/", ".hidden/secret", "b/inner"],
      failed: [],
      truncated: false,
    });
  });

  it("follows links to folders on request, and enters no folder twice", async () => {
    const { found, truncated } = await walked("tree", { followDirectorySymlinks: true });
    expect(found).toEqual([".hidden/", "a", "b/", "folder-link/", ".hidden/secret", "b/inner", "b/up/"]);
    expect(truncated).toBe(false);
  });

  it("lists hidden folders without their contents on request", async () => {
    const { found } = await walked("tree", { pruneHiddenDirectories: true });
    expect(found).toEqual([".hidden/", "a", "b/", "b/inner"]);
    expect((await walked("tree/.hidden", { pruneHiddenDirectories: true })).found).toEqual(["secret"]);
  });

  it("stops at its depth, which does not count as truncated", async () => {
    expect(await walked("tree", { maxDepth: 0 })).toMatchObject({ found: [".hidden/", "a", "b/"], truncated: false });
  });

  it("is truncated by the number of folders, the root among them", async () => {
    expect(await walked("tree", { maxDirectories: 2 })).toMatchObject({
      found: [".hidden/", "a", "b/", ".hidden/secret"],
      truncated: true,
    });
    expect(await walked("tree", { maxDirectories: 3 })).toMatchObject({ truncated: false });
  });

  it("is truncated by the number of entries looked at, listed or not", async () => {
    // In the root: .hidden, a, b, folder-link, link, pipe; then secret; then inner and up.
    expect(await walked("tree", { maxEntries: 2 })).toMatchObject({ found: [".hidden/", "a"], truncated: true });
    expect(await walked("tree", { maxEntries: 6 })).toMatchObject({ found: [".hidden/", "a", "b/"], truncated: true });
    expect(await walked("tree", { maxEntries: 8 })).toMatchObject({ truncated: true });
    expect(await walked("tree", { maxEntries: 9 })).toMatchObject({ truncated: false });
  });

  it("finds nothing in a file, and fails if there is nothing", async () => {
    for (const root of ["tree/a", "tree/folder-link", "tree/pipe"]) {
      expect(await walked(root)).toEqual({ found: [], failed: [], truncated: false });
    }
    expect((await walked("tree/folder-link", { followDirectorySymlinks: true })).found).toContain("inner");
    await expect(walked("nothing")).rejects.toMatchObject({ code: "ENOENT" });
    await expect(walked("tree/dangling")).rejects.toMatchObject({ code: "ENOENT" });
  });

  (process.getuid?.() === 0 ? it.skip : it)("names the folders that it could not read and goes on", async () => {
    mkdirSync(scratch("closed/a"), { recursive: true });
    mkdirSync(scratch("closed/b"));
    chmodSync(scratch("closed/a"), 0);
    expect(await walked("closed")).toEqual({ found: ["a/", "b/"], failed: ["a"], truncated: false });
  });

  it("keeps names that are not UTF-8", async () => {
    mkdirSync(scratch("bytes"));
    writeFileSync(Buffer.concat([pathOf("bytes/"), Buffer.from([0xff])]), "");
    const { entries } = await walk(pathOf("bytes"), generous);
    expect(entries.map(({ path }) => path.at(-1))).toEqual([0xff]);
  });
});

describe("the entries of a folder", () => {
  it("describe the targets of links, and omit dangling links", async () => {
    const entries = await listDirectory(pathOf("tree"));
    const lines = entries.map(({ name, kind, isLink }) => `${name} ${kind}${isLink ? " link" : ""}`);
    expect(lines.sort()).toEqual([
      ".hidden directory",
      "a file",
      "b directory",
      "folder-link directory link",
      "link file link",
      "pipe other",
    ]);
  });

  it("are complete for a large folder", async () => {
    mkdirSync(scratch("large"));
    for (let index = 0; index < 3000; index += 1) writeFileSync(scratch(`large/${index}`), "");
    const entries = await listDirectory(pathOf("large"));
    expect(new Set(entries.map(({ name }) => String(name))).size).toBe(3000);
  });
});
