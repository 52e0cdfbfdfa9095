// Copies of files, links and trees, and what a copy must never destroy.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { spawn as spawnTerminal } from "node-pty";
import { copy } from "../../../lib/files/copy.ts";
import { makeScratch } from "../../support/scratch.ts";

const scratch = makeScratch();
const copied = (from: string, to: string, recursive = false) =>
  copy(Buffer.from(scratch(from)), Buffer.from(scratch(to)), { recursive });
const contents = (name: string) => readFileSync(scratch(name), "utf8");

describe("copying a file", () => {
  it("copies contents and mode over an existing file", async () => {
    writeFileSync(scratch("program"), "new", { mode: 0o750 });
    writeFileSync(scratch("old"), "something longer", { mode: 0o600 });
    await copied("program", "old");
    expect([contents("old"), statSync(scratch("old")).mode & 0o777]).toEqual(["new", 0o750]);
  });

  it("copies a file that is larger than its buffer", async () => {
    const bytes = Buffer.alloc(3 * 1024 * 1024 + 7, "abc");
    writeFileSync(scratch("large"), bytes);
    await copied("large", "large copy");
    expect(readFileSync(scratch("large copy")).equals(bytes)).toBe(true);
  });

  it("copies a file without a size, like those in /proc", async () => {
    await copy(Buffer.from("/proc/version"), Buffer.from(scratch("version")), { recursive: false });
    expect(contents("version")).toBe(readFileSync("/proc/version", "utf8"));
  });

  it("does not lose a file that is copied onto itself", async () => {
    writeFileSync(scratch("itself"), "precious");
    symlinkSync("itself", scratch("itself-link"));
    await copied("itself", "itself");
    await copied("itself", "itself-link");
    expect(contents("itself")).toBe("precious");
  });

  it("does not wait at either end of a FIFO", async () => {
    execFileSync("mkfifo", [scratch("fifo")]);
    writeFileSync(scratch("source"), "x");
    await expect(copied("fifo", "fifo copy")).rejects.toMatchObject({ reason: "copiesSpecialFile" });
    await expect(copied("source", "fifo")).rejects.toMatchObject({ code: "ENXIO" });
  });

  it("writes to a device, whose mode stays", async () => {
    // A terminal of our own: a changed mode of a device such as /dev/null would break the whole machine.
    const terminal = spawnTerminal("/bin/sh", ["-c", "tty; read -r _"], {});
    let shown = "";
    const shows = (pattern: RegExp) =>
      new Promise<void>((resolve) => {
        const look = () => pattern.test(shown) && resolve();
        terminal.onData(look);
        look();
      });
    terminal.onData((text) => {
      shown += text;
    });
    await shows(/\n/);
    const device = shown.trim();
    const { mode } = statSync(device);
    writeFileSync(scratch("bytes"), "copied", { mode: 0o640 });
    await copy(Buffer.from(scratch("bytes")), Buffer.from(device), { recursive: false });
    await shows(/copied/);
    expect(statSync(device).mode).toBe(mode);
    const exited = new Promise((resolve) => terminal.onExit(resolve));
    terminal.write("\n");
    await exited;
  });

  it("copies a link as a link, and never over an existing path", async () => {
    symlinkSync("nowhere", scratch("link"));
    await copied("link", "link copy");
    expect(readlinkSync(scratch("link copy"))).toBe("nowhere");
    await expect(copied("link", "link copy")).rejects.toMatchObject({ code: "EEXIST" });
  });
});

describe("copying a folder", () => {
  mkdirSync(scratch("folder/deep/deeper"), { recursive: true });
  writeFileSync(scratch("folder/deep/deeper/file"), "x");
  writeFileSync(scratch("folder/one"), "new");
  symlinkSync("one", scratch("folder/link"));
  execFileSync("mkfifo", [scratch("folder/pipe")]);

  it("must be requested with recursive", async () => {
    await expect(copied("folder", "not made")).rejects.toMatchObject({ reason: "copiesDirectory" });
    expect(existsSync(scratch("not made"))).toBe(false);
  });

  it("copies its contents except FIFOs, and creates the folders above", async () => {
    await copied("folder", "a/b/copy", true);
    expect(readdirSync(scratch("a/b/copy")).sort()).toEqual(["deep", "link", "one"]);
    expect(contents("a/b/copy/deep/deeper/file")).toBe("x");
    expect(readlinkSync(scratch("a/b/copy/link"))).toBe("one");
  });

  it("merges into an existing folder", async () => {
    mkdirSync(scratch("merged"));
    writeFileSync(scratch("merged/one"), "something old");
    writeFileSync(scratch("merged/two"), "kept");
    await copied("folder", "merged", true);
    expect([contents("merged/one"), contents("merged/two")]).toEqual(["new", "kept"]);
  });

  it("is refused into itself, also through a link", async () => {
    symlinkSync("folder", scratch("folder-link"));
    for (const to of ["folder", "folder/new", "folder/deep/new/newer", "folder-link/new"]) {
      await expect(copied("folder", to, true)).rejects.toMatchObject({ reason: "copiesIntoItself" });
    }
    expect(readdirSync(scratch("folder")).sort()).toEqual(["deep", "link", "one", "pipe"]);
  });

  it("is not confused with a folder whose name begins with its own", async () => {
    mkdirSync(scratch("fol"));
    await copied("fol", "folder-of-fol", true);
    expect(readdirSync(scratch("folder-of-fol"))).toEqual([]);
  });

  it("does not replace a file by a folder", async () => {
    await expect(copied("folder", "folder/one/x", true)).rejects.toMatchObject({ code: "ENOTDIR" });
    writeFileSync(scratch("in the way"), "");
    await expect(copied("folder", "in the way", true)).rejects.toMatchObject({ code: "EEXIST" });
  });
});
