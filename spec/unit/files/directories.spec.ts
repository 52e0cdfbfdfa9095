// Creating folders and removing trees.
import { existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { createDirectory, remove } from "../../../lib/files/directories.ts";
import { makeScratch } from "../../support/scratch.ts";

const scratch = makeScratch();
const made = (name: string, recursive = true) => createDirectory(Buffer.from(scratch(name)), { recursive });
const removed = (name: string, { recursive = true, force = true } = {}) =>
  remove(Buffer.from(scratch(name)), { recursive, force });

describe("creating a folder", () => {
  it("creates the folders above it, and accepts an existing one", async () => {
    await made("a/b/c");
    await made("a/b/c");
    symlinkSync("a", scratch("a-link"));
    await made("a-link");
    await made("a-link/d");
    expect(readdirSync(scratch("a")).sort()).toEqual(["b", "d"]);
  });

  it("creates exactly one new folder unless recursive", async () => {
    await expect(made("x/y", false)).rejects.toMatchObject({ code: "ENOENT" });
    await made("x", false);
    await expect(made("x", false)).rejects.toMatchObject({ code: "EEXIST" });
  });

  it("reports what is in the way, including a dangling link", async () => {
    writeFileSync(scratch("file"), "");
    symlinkSync("nothing", scratch("dangling"));
    await expect(made("file")).rejects.toMatchObject({ code: "EEXIST" });
    await expect(made("file/x")).rejects.toMatchObject({ code: "ENOTDIR" });
    await expect(made("dangling")).rejects.toMatchObject({ code: "EEXIST" });
    await expect(made("dangling/x")).rejects.toMatchObject({ code: "EEXIST" });
  });
});

describe("removing a path", () => {
  it("removes a tree, and links in it without their targets", async () => {
    mkdirSync(scratch("kept"));
    writeFileSync(scratch("kept/file"), "");
    mkdirSync(scratch("tree/deep"), { recursive: true });
    for (let index = 0; index < 100; index += 1) writeFileSync(scratch(`tree/deep/${index}`), "");
    symlinkSync("../kept", scratch("tree/link"));
    await removed("tree");
    expect([existsSync(scratch("tree")), existsSync(scratch("kept/file"))]).toEqual([false, true]);
  });

  it("removes a link to a folder, not the folder", async () => {
    mkdirSync(scratch("target"));
    symlinkSync("target", scratch("target-link"));
    await removed("target-link");
    expect(existsSync(scratch("target"))).toBe(true);
    expect(() => lstatSync(scratch("target-link"))).toThrow("ENOENT");
  });

  it("removes only an empty folder unless recursive", async () => {
    mkdirSync(scratch("full/inner"), { recursive: true });
    await expect(removed("full", { recursive: false })).rejects.toMatchObject({ code: "ENOTEMPTY" });
    await removed("full/inner", { recursive: false });
    await removed("full", { recursive: false });
    expect(existsSync(scratch("full"))).toBe(false);
  });

  it("accepts a missing path if forced", async () => {
    await removed("nothing/at/all");
    await expect(removed("nothing", { force: false })).rejects.toMatchObject({ code: "ENOENT" });
    writeFileSync(scratch("plain"), "");
    await expect(removed("plain/x")).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  it("refuses to remove the root", async () => {
    await expect(remove(Buffer.from("/"), { recursive: false, force: false })).rejects.toMatchObject({
      reason: "removesRoot",
    });
  });
});
