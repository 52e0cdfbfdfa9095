// The methods fs/* as a connection calls them: params, results, and the error messages of the exec-server.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "@jest/globals";
import type { RawResult } from "../../../lib/codex/server/method.ts";
import { sha256 } from "../../support/digest.ts";
import { connectFiles } from "../../support/file-methods.ts";
import { makeScratch } from "../../support/scratch.ts";

const scratch = makeScratch();
const uriOf = (name: string) => `file://${scratch(name)}`;
const base64 = (text: string) => Buffer.from(text).toString("base64");

let connection = connectFiles();
afterEach(() => {
  connection.end();
  connection = connectFiles();
});

const call = (method: string, params: unknown) => connection.call(method, params);

const missing = "-32004 No such file or directory (os error 2)";
const walkOptions = { maxDepth: 5, maxDirectories: 10, maxEntries: 100, followDirectorySymlinks: false };

mkdirSync(scratch("folder/inner"), { recursive: true });
mkdirSync(scratch("nest/one/two"), { recursive: true });
writeFileSync(scratch("folder/file"), "hello");
symlinkSync("folder", scratch("folder-link"));
symlinkSync("loop", scratch("loop"));
execFileSync("mkfifo", [scratch("fifo")]);

describe("fs/readFile and fs/writeFile", () => {
  it("transfer bytes as base64", async () => {
    expect(await call("fs/writeFile", { path: uriOf("a bé%23"), dataBase64: base64("x\0y") })).toEqual({});
    expect(readFileSync(scratch("a bé#"), "utf8")).toBe("x\0y");
    expect(await call("fs/readFile", { path: uriOf("a%20b%C3%A9%23"), followSymlinks: null })).toEqual({
      dataBase64: base64("x\0y"),
    });
  });

  it("reply with a large file in parts that form one base64 text", async () => {
    const bytes = Buffer.alloc(5 * 1024 * 1024 + 1, "0123456789");
    writeFileSync(scratch("large"), bytes);
    const result = (await connection.perform("fs/readFile", { path: uriOf("large") })) as RawResult;
    expect(Math.max(...result.parts.map((part) => part.length))).toBeLessThanOrEqual(1024 * 1024);
    const { dataBase64 } = JSON.parse(Buffer.concat(result.parts).toString());
    expect(sha256(Buffer.from(dataBase64, "base64"))).toBe(sha256(bytes));
  });

  it("refuse a file that cannot be read", async () => {
    const refused = (name: string) => `-32600 path \`${scratch(name)}\` is not a file`;
    expect(await call("fs/readFile", { path: uriOf("folder") })).toBe(refused("folder"));
    expect(await call("fs/readFile", { path: uriOf("fifo") })).toBe(refused("fifo"));
    expect(await call("fs/readFile", { path: uriOf("nothing") })).toBe(missing);
    expect(await call("fs/readFile", { path: scratch("folder/file") })).toBe(
      "-32602 invalid URI: relative URL without a base",
    );
    expect(await call("fs/readFile", { path: "file://host/x" })).toBe(
      `-32600 'file://host/x' is invalid on '${process.platform}'`,
    );
    writeFileSync(scratch("too large"), "");
    truncateSync(scratch("too large"), 512 * 1024 * 1024 + 1);
    expect(await call("fs/readFile", { path: uriOf("too large") })).toBe(
      "-32600 file is too large to read: limit is 536870912 bytes",
    );
  });

  it("refuse a file that cannot be written", async () => {
    const written = (path: string, dataBase64: unknown = "") => call("fs/writeFile", { path, dataBase64 });
    expect(await written(uriOf("x"), "!!")).toBe(
      "-32600 fs/writeFile requires valid base64 dataBase64: Invalid symbol 33, offset 0.",
    );
    expect(await written(uriOf("x"), 5)).toBe("-32602 invalid type: number, expected a string");
    expect(await written(uriOf("nothing/x"))).toBe(missing);
    expect(await written(uriOf("folder"))).toBe("-32603 Is a directory (os error 21)");
    expect(await written(uriOf("loop"))).toBe("-32603 Symbolic link loop (os error 40)");
    expect(await written(uriOf("folder/file/x"))).toBe("-32603 Not a directory (os error 20)");
    expect(await written(uriOf("fifo"))).toBe("-32603 No such device or address (os error 6)");
    expect(await written(uriOf("x".repeat(300)))).toBe("-32603 Filename too long (os error 36)");
  });

  it("accept names that are not UTF-8, in every way that a URI can encode them", async () => {
    const path = uriOf("byte%FF");
    await call("fs/writeFile", { path, dataBase64: base64("x") });
    expect(await call("fs/readFile", { path: uriOf("byte%ff") })).toEqual({ dataBase64: base64("x") });
    expect(await call("fs/canonicalize", { path })).toEqual({ path });
  });
});

describe("fs/getMetadata and fs/canonicalize", () => {
  const short = "/a".repeat(45_000);
  it.each([
    ["of 45,000 short names", `file://${short}`],
    ["of one byte too many", `file:///${"x/".repeat(2_047)}y`],
    ["that is too long once its escapes are bytes", `file:///${"%C3%A9".repeat(2_048)}`],
    ["of megabytes", `file:///${"a/".repeat(2_000_000)}`],
  ])("refuse a path %s as too long before they access it", async (_what, path) => {
    const tooLong = "-32603 Filename too long (os error 36)";
    const params = { path, dataBase64: "", options: walkOptions, handleId: "h", recursive: true, force: true };
    const methods = connection.names.filter((name) => !/Block$|close$|copy$|watchMissing$/.test(name));
    expect(methods.length).toBe(9);
    for (const method of methods) expect([method, await call(method, params)]).toEqual([method, tooLong]);
    const copied = { sourcePath: uriOf("folder"), destinationPath: path, recursive: true };
    expect(await call("fs/copy", copied)).toBe(tooLong);
    expect(await call("fs/copy", { ...copied, sourcePath: path, destinationPath: uriOf("x") })).toBe(tooLong);
  });

  it("accept the longest possible path", async () => {
    const path = `file:///${"x/".repeat(2_047)}`.slice(0, -1);
    expect(await call("fs/getMetadata", { path })).toBe(missing);
  });

  it("describe a path with and without trailing slashes", async () => {
    const told = { isDirectory: false, isFile: true, isSymlink: false, size: 5 };
    expect(await call("fs/getMetadata", { path: uriOf("folder/file") })).toMatchObject(told);
    expect(await call("fs/getMetadata", { path: uriOf("folder//file/") })).toMatchObject(told);
    expect(await call("fs/getMetadata", { path: uriOf("folder-link") })).toMatchObject({ isSymlink: true });
    expect(await call("fs/getMetadata", { path: uriOf("nothing") })).toBe(missing);
    expect(await call("fs/getMetadata", { path: uriOf("folder-link"), followSymlinks: false })).toBe(
      "-32600 path contains a symbolic link",
    );
    expect(await call("fs/getMetadata", {})).toBe("-32602 missing field `path`");
  });

  it("return the path without links and dots", async () => {
    expect(await call("fs/canonicalize", { path: uriOf("folder-link/inner/%2e%2e/file") })).toEqual({
      path: uriOf("folder/file"),
    });
    expect(await call("fs/canonicalize", { path: uriOf("folder/inner%2f..%2ffile") })).toEqual({
      path: uriOf("folder/file"),
    });
  });
});

describe("fs/readDirectory and fs/walk", () => {
  it("list a folder and a tree", async () => {
    const { entries } = (await call("fs/readDirectory", { path: uriOf("folder") })) as { entries: object[] };
    expect(entries).toHaveLength(2);
    expect(entries).toContainEqual({ fileName: "file", isDirectory: false, isFile: true });
    expect(entries).toContainEqual({ fileName: "inner", isDirectory: true, isFile: false });
    expect(await call("fs/walk", { path: uriOf("folder"), options: walkOptions })).toEqual({
      entries: [
        { path: uriOf("folder/file"), kind: "file" },
        { path: uriOf("folder/inner"), kind: "directory" },
      ],
      errors: [],
      truncated: false,
    });
  });

  it("fail if there is nothing, or something else than a folder", async () => {
    expect(await call("fs/readDirectory", { path: uriOf("nothing") })).toBe(missing);
    expect(await call("fs/readDirectory", { path: uriOf("folder/file") })).toBe("-32603 Not a directory (os error 20)");
    expect(await call("fs/walk", { path: uriOf("nothing"), options: walkOptions })).toBe(missing);
  });

  it.each([
    [{ maxDirectories: 0 }, "-32600 filesystem walk limits must be greater than zero"],
    [{ maxEntries: 0 }, "-32600 filesystem walk limits must be greater than zero"],
    [{ maxDepth: 65 }, "-32600 filesystem walk limits exceed maximums: depth=64, directories=10000, entries=50000"],
    [{ maxEntries: 50_001 }, /^-32600 filesystem walk limits exceed/],
    [{ maxDirectories: 10_001 }, /^-32600 filesystem walk limits exceed/],
    [{ maxDepth: undefined }, "-32602 invalid type: null, expected u64"],
    [{ pruneHiddenDirectories: null }, "-32602 invalid type: null, expected a boolean"],
  ])("refuse a walk with %j", async (options, words) => {
    const answer = await call("fs/walk", { path: uriOf("folder"), options: { ...walkOptions, ...options } });
    expect(answer).toEqual(typeof words === "string" ? words : expect.stringMatching(words));
  });

  it("walk the root only with a depth of 0", async () => {
    expect(await call("fs/walk", { path: uriOf("nest"), options: { ...walkOptions, maxDepth: 0 } })).toEqual({
      entries: [{ path: uriOf("nest/one"), kind: "directory" }],
      errors: [],
      truncated: false,
    });
  });
});

describe("fs/createDirectory, fs/remove and fs/copy", () => {
  it("make and remove whole paths by default", async () => {
    expect(await call("fs/createDirectory", { path: uriOf("new/er") })).toEqual({});
    expect(await call("fs/createDirectory", { path: uriOf("new/er"), recursive: null })).toEqual({});
    expect(await call("fs/remove", { path: uriOf("new") })).toEqual({});
    expect(await call("fs/remove", { path: uriOf("new") })).toEqual({});
  });

  it("do only one level if the params say so", async () => {
    expect(await call("fs/createDirectory", { path: uriOf("folder"), recursive: false })).toBe(
      "-32603 File exists (os error 17)",
    );
    expect(await call("fs/remove", { path: uriOf("folder"), recursive: false })).toBe(
      "-32603 Directory not empty (os error 39)",
    );
    expect(await call("fs/remove", { path: uriOf("nothing"), force: false })).toBe(missing);
  });

  it("copy, and report what they cannot copy", async () => {
    const copied = (from: string, to: string, recursive?: boolean) =>
      call("fs/copy", { sourcePath: uriOf(from), destinationPath: uriOf(to), recursive });
    expect(await copied("folder", "copy", true)).toEqual({});
    expect(readFileSync(scratch("copy/file"), "utf8")).toBe("hello");
    expect(await copied("folder", "other", false)).toBe(
      "-32600 fs/copy requires recursive: true when sourcePath is a directory",
    );
    expect(await copied("folder", "folder/inner/x", true)).toBe(
      "-32600 fs/copy cannot copy a directory to itself or one of its descendants",
    );
    expect(await copied("fifo", "x", false)).toBe(
      "-32600 fs/copy only supports regular files, directories, and symlinks",
    );
    expect(await call("fs/copy", { sourcePath: uriOf("folder"), destinationPath: uriOf("x") })).toBe(
      "-32602 missing field `recursive`",
    );
  });
});

describe("a sandbox in params of fs/*", () => {
  const file_system = { type: "restricted", entries: [] };
  const permissions = { type: "managed", file_system, network: "enabled" };
  const sandbox = { permissions, windowsSandboxLevel: "disabled" };
  const anything = {
    dataBase64: "",
    options: walkOptions,
    recursive: true,
    handleId: "h",
    watchId: 1,
    missing: [uriOf("x")],
    sourcePath: uriOf("folder/file"),
    destinationPath: uriOf("never made"),
    path: uriOf("never made"),
  };
  const withPaths = connection.names.filter((name) => !/Block|close/.test(name));

  it.each(withPaths)(
    "with restrictions is refused by %s, which has our own rights, before anything is done",
    async (method) => {
      expect(await call(method, { ...anything, sandbox })).toBe(
        "-32602 this file method cannot be performed in a sandbox",
      );
      expect(readdirSync(scratch(""))).not.toContain("never made");
    },
  );

  it("without restrictions is accepted", async () => {
    const disabled = { permissions: { type: "disabled" }, windowsSandboxLevel: "disabled" };
    const params = { path: uriOf("folder/file"), sandbox: disabled };
    expect(await call("fs/readFile", params)).toEqual({ dataBase64: base64("hello") });
  });
});
