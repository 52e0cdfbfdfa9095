// The fs/* resources of a connection: open files and the watch for a missing path, which both end with it.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "@jest/globals";
import type { ReplyThen } from "../../../lib/codex/server/method.ts";
import { connectFiles } from "../../support/file-methods.ts";
import { makeScratch } from "../../support/scratch.ts";
import { settled } from "../../support/system-wait.ts";

const scratch = makeScratch();
const uriOf = (name: string) => `file://${scratch(name)}`;
const base64 = (text: string) => Buffer.from(text).toString("base64");

let connection = connectFiles();
afterEach(() => {
  connection.end();
  connection = connectFiles();
});

const call = (method: string, params: unknown) => connection.call(method, params);

mkdirSync(scratch("folder"));
execFileSync("mkfifo", [scratch("fifo")]);

describe("file handles", () => {
  it("read and write blocks of a file", async () => {
    expect(await call("fs/open", { handleId: "w", path: uriOf("blocks"), mode: "replace" })).toEqual({ handleId: "w" });
    expect(await call("fs/writeBlock", { handleId: "w", offset: 3, chunk: base64("def") })).toEqual({});
    expect(await call("fs/close", { handleId: "w" })).toEqual({});
    expect(await call("fs/close", { handleId: "w" })).toEqual({});
    expect(await call("fs/open", { handleId: "", path: uriOf("blocks") })).toEqual({ handleId: "" });
    const read = (offset: number, len: number) => call("fs/readBlock", { handleId: "", offset, len });
    expect(await read(0, 6)).toEqual({ chunk: base64("\0\0\0def"), eof: false });
    expect(await read(4, 1_048_576)).toEqual({ chunk: base64("ef"), eof: true });
  });

  it("refuse an invalid block, for every handle", async () => {
    const length = "block length must be between 1 and 1048576";
    for (const len of [0, 1_048_577]) {
      expect(await call("fs/readBlock", { handleId: "z", offset: 0, len })).toBe(`-32600 file read ${length}`);
    }
    for (const chunk of ["", Buffer.alloc(1_048_577).toString("base64")]) {
      expect(await call("fs/writeBlock", { handleId: "z", offset: 0, chunk })).toBe(`-32600 file write ${length}`);
    }
    expect(await call("fs/writeBlock", { handleId: "z", offset: 0, chunk: "!" })).toMatch(/^-32602 Invalid symbol 33/);
    expect(await call("fs/readBlock", { handleId: "z", offset: 0, len: 1 })).toBe("-32004 unknown file handle `z`");
    expect(await call("fs/readBlock", { handleId: "z", offset: -1, len: 1 })).toBe("-32602 invalid number");
  });

  it("refuse the wrong direction, mode, id and kind of file", async () => {
    writeFileSync(scratch("plain"), "x");
    const open = (handleId: string, name: string, mode?: string) =>
      call("fs/open", mode === undefined ? { handleId, path: uriOf(name) } : { handleId, path: uriOf(name), mode });
    await open("r", "plain");
    expect(await open("r", "nothing")).toBe("-32600 file handle `r` already exists");
    expect(await open("d", "folder")).toBe(`-32600 path \`${scratch("folder")}\` is not a file`);
    expect(await open("f", "fifo", "replace")).toBe("-32603 No such device or address (os error 6)");
    expect(await open("x", "plain", "zz")).toBe("-32602 unknown variant `zz`, expected `read` or `replace`");
    expect(await call("fs/writeBlock", { handleId: "r", offset: 0, chunk: "aGk=" })).toBe(
      "-32603 Bad file descriptor (os error 9)",
    );
  });

  it("are 128 at most, and end with the connection", async () => {
    writeFileSync(scratch("held"), "x");
    const { end } = connection;
    for (let index = 0; index < 128; index += 1) {
      await call("fs/open", { handleId: String(index), path: uriOf("held") });
    }
    const open = () => readdirSync("/proc/self/fd").filter((fd) => linkOf(fd) === scratch("held")).length;
    expect(open()).toBe(128);
    expect(await call("fs/open", { handleId: "more", path: uriOf("held") })).toBe(
      "-32600 at most 128 file handles may be open per connection",
    );
    end();
    expect(await settled(open, (count) => count === 0)).toBe(0);
    await call("fs/open", { handleId: "late", path: uriOf("held") });
    expect(await settled(open, (count) => count === 0)).toBe(0);
  });
});

describe("fs/watchMissing", () => {
  const watch = (watchId: number, name: string | undefined, present: string | null = null) =>
    call("fs/watchMissing", { watchId, missing: name === undefined ? [] : [uriOf(name)], present });
  const told = (count: number) =>
    settled(
      () => connection.told.length,
      (length) => length >= count,
    );
  const changed = (watchId: number) => ({ method: "fs/missingChanged", params: { watchId } });

  it("reports once what appears", async () => {
    expect(await watch(1, "appears")).toEqual({ watching: true });
    writeFileSync(scratch("appears"), "");
    await told(1);
    expect(connection.told).toEqual([changed(1)]);
  });

  it("sends nothing before its reply, and then what happened meanwhile", async () => {
    const announced = async ({ perform }: typeof connection, name: string) =>
      (await perform("fs/watchMissing", { watchId: 1, missing: [uriOf(name)], present: null })) as ReplyThen;
    const early = await announced(connection, "early");
    const other = connectFiles();
    const barrier = await announced(other, "barrier");
    barrier.begin();
    writeFileSync(scratch("early"), "");
    writeFileSync(scratch("barrier"), "");
    await settled(
      () => other.told.length,
      (length) => length > 0,
    );
    other.end();
    expect(connection.told).toEqual([]);
    early.begin();
    await told(1);
    expect(connection.told).toEqual([changed(1)]);
  });

  it("refuses existing paths, no path, and too many paths", async () => {
    expect(await watch(1, "folder")).toEqual({ watching: false });
    expect(await watch(2, undefined)).toEqual({ watching: false });
    expect(await watch(3, "x", uriOf("absent"))).toEqual({ watching: false });
    const many = Array.from({ length: 65 }, (_, index) => uriOf(`many-${index}`));
    expect(await call("fs/watchMissing", { watchId: 4, missing: many.slice(1) })).toEqual({ watching: true });
    expect(await call("fs/watchMissing", { watchId: 5, missing: many, present: null })).toEqual({ watching: false });
    expect(await call("fs/watchMissing", { watchId: 6, missing: ["file://host/x"] })).toEqual({ watching: false });
  });

  it("has one watch, which only a higher id replaces", async () => {
    expect(await watch(5, "five")).toEqual({ watching: true });
    expect(await watch(5, "again")).toEqual({ watching: false });
    expect(await watch(4, "four")).toEqual({ watching: false });
    expect(await watch(6, "six")).toEqual({ watching: true });
    for (const name of ["five", "again", "four", "six"]) writeFileSync(scratch(name), "");
    await told(1);
    expect(connection.told).toEqual([changed(6)]);
  });

  it("ends with its connection", async () => {
    const { end, told: toldHere } = connection;
    await watch(1, "too late");
    end();
    connection = connectFiles();
    await watch(1, "in time");
    writeFileSync(scratch("too late"), "");
    writeFileSync(scratch("in time"), "");
    await told(1);
    expect(toldHere).toEqual([]);
  });
});

function linkOf(fd: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}
