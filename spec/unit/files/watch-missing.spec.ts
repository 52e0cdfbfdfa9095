// Watches for missing paths: what they report, what they do not, and that they end.
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { afterEach, describe, expect, it } from "@jest/globals";
import { type MissingWatch, watchMissing } from "../../../lib/files/watch-missing.ts";
import { nextTurn } from "../../support/next-turn.ts";
import { makeScratch } from "../../support/scratch.ts";
import { settled } from "../../support/system-wait.ts";

const scratch = makeScratch();
const pathOf = (name: string) => Buffer.from(scratch(name));
const touch = (name: string) => writeFileSync(scratch(name), "");

const watches: MissingWatch[] = [];
afterEach(() => {
  for (const watch of watches.splice(0)) watch.close();
});

/** Watches, and returns a promise of the report. Undefined if it does not watch. */
async function watched(missing: readonly string[], present?: string) {
  let calls = 0;
  let resolve = () => {};
  const told = new Promise<void>((done) => {
    resolve = done;
  });
  const paths = { missing: missing.map(pathOf), present: present === undefined ? undefined : pathOf(present) };
  const watch = await watchMissing(paths, () => {
    calls += 1;
    resolve();
  });
  if (!watch) return undefined;
  watches.push(watch);
  return { told, calls: () => calls, watch };
}

async function nextTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

/** Resolves when the system has reported all earlier changes to every watch. */
async function afterEvents(): Promise<void> {
  const last = (await watched([`last-${Math.random()}`, "last"]))!;
  touch("last");
  await last.told;
  renameSync(scratch("last"), scratch(`was-last-${Math.random()}`));
}

mkdirSync(scratch("folder"));
touch("there");
symlinkSync("folder", scratch("folder-link"));
symlinkSync("nothing", scratch("dangling"));

describe("a watch for a missing path", () => {
  it("reports once when it appears, as a file, a folder or a link", async () => {
    const file = await watched(["file", "other"]);
    const folder = await watched(["new folder"]);
    const link = await watched(["link"]);
    touch("file");
    mkdirSync(scratch("new folder"));
    symlinkSync("nowhere", scratch("link"));
    await Promise.all([file?.told, folder?.told, link?.told]);
    touch("other");
    await afterEvents();
    expect([file?.calls(), folder?.calls(), link?.calls()]).toEqual([1, 1, 1]);
  });

  it("does not report its neighbours", async () => {
    const watch = await watched(["folder/missing"]);
    touch("folder/neighbour");
    touch("neighbour");
    await afterEvents();
    expect(watch?.calls()).toBe(0);
  });

  it("reports when the first missing folder on the way to it appears", async () => {
    const watch = await watched(["a/b/c"]);
    mkdirSync(scratch("a"));
    await watch?.told;
  });

  it("reports when a folder above it is removed or moved", async () => {
    mkdirSync(scratch("goes"));
    mkdirSync(scratch("moves/inner"), { recursive: true });
    const gone = await watched(["goes/x"]);
    const moved = await watched(["moves/inner/x"]);
    rmdirSync(scratch("goes"));
    renameSync(scratch("moves"), scratch("moved"));
    await Promise.all([gone?.told, moved?.told]);
  });

  it("reports nothing after it was closed", async () => {
    const watch = await watched(["closed"]);
    watch?.watch.close();
    touch("closed");
    await afterEvents();
    expect(watch?.calls()).toBe(0);
  });

  it("reports nothing after it was closed during its first check", async () => {
    for (let turns = 0; turns < 30; turns += 1) {
      const watch = await watched([`looked-${turns}`]);
      touch(`looked-${turns}`);
      await nextTurns(turns);
      watch?.watch.close();
      const calls = watch?.calls();
      await nextTurns(20);
      expect(watch?.calls()).toBe(calls);
    }
  });

  it("misses nothing that appears while it begins", async () => {
    for (let turns = 0; turns < 30; turns += 1) {
      const beginning = watched([`early-${turns}`]);
      await nextTurns(turns);
      touch(`early-${turns}`);
      const watch = await beginning;
      // Before the periodic check, which would find it in the end.
      if (watch) expect(await settled(watch.calls, (calls) => calls > 0, 2000)).toBe(1);
    }
  });

  it("reports when a present path changes, is replaced, or is removed", async () => {
    for (const change of [
      () => appendFileSync(scratch("present"), "more"),
      () => {
        touch("replacement");
        renameSync(scratch("replacement"), scratch("present"));
      },
      () => renameSync(scratch("present"), scratch("gone")),
    ]) {
      touch("present");
      const watch = await watched(["never"], "present");
      change();
      await watch?.told;
    }
  });

  it("ignores changes inside a folder that is present", async () => {
    const watch = await watched(["never"], "folder");
    touch("folder/new");
    await afterEvents();
    expect(watch?.calls()).toBe(0);
  });

  it("is refused if a path is not as the request says", async () => {
    expect(await watched([])).toBeUndefined();
    expect(await watched(["there"])).toBeUndefined();
    expect(await watched(["dangling"])).toBeUndefined();
    expect(await watched(["missing", "there"])).toBeUndefined();
    expect(await watched(["missing"], "absent")).toBeUndefined();
    expect(await watched(["there/x"])).toBeUndefined();
  });

  it("is refused behind a link, and on file systems without events", async () => {
    expect(await watched(["folder-link/x"])).toBeUndefined();
    expect(await watched(["missing"], "folder-link")).toBeUndefined();
    expect(await watchMissing({ missing: [Buffer.from("/proc/missing")] }, () => {})).toBeUndefined();
  });

  it("accepts a name that is not UTF-8", async () => {
    const path = Buffer.concat([pathOf("name-"), Buffer.from([0xff])]);
    const told = new Promise<void>((resolve) => {
      void watchMissing({ missing: [path] }, resolve).then(() => writeFileSync(path, ""));
    });
    await told;
  });

  it("uses no descriptor of its own, however many watches there are", async () => {
    const notifiers = () =>
      readdirSync("/proc/self/fd").filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).includes("inotify");
        } catch {
          return false;
        }
      }).length;
    await watched(["first"]);
    const before = notifiers();
    for (let index = 0; index < 200; index += 1) expect(await watched([`many-${index}`])).toBeDefined();
    expect(notifiers()).toBe(before);
  });
});
