// Which file a program name means: in the child's PATH and from the child's directory, as execvp(3) would look it up.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { resolveProgram } from "../../../lib/spawn/resolve-program.ts";
import { refusal } from "../../support/refusal.ts";
import { makeScratch } from "../../support/scratch.ts";

const at = makeScratch();

beforeAll(() => {
  for (const folder of ["first", "second", "cwd", "cwd/bin", "first/folder"]) mkdirSync(at(folder));
  for (const file of [
    "first/both",
    "second/both",
    "second/tool",
    "cwd/here",
    "cwd/bin/nested",
    "second/folder",
    "second/plain",
  ]) {
    writeFileSync(at(file), "#!/bin/sh\n");
    chmodSync(at(file), 0o755);
  }
  writeFileSync(at("first/plain"), "not executable");
  writeFileSync(at("first/text"), "not executable");
});

const path = () => `${at("first")}:${at("second")}`;
const resolve = (name: string, folders = path()) => resolveProgram(name, at("cwd"), folders);

describe("looking up a program", () => {
  it("takes the first in the child's PATH", async () => {
    expect(await resolve("both")).toBe(at("first/both"));
    expect(await resolve("both", `${at("second")}:${at("first")}`)).toBe(at("second/both"));
    expect(await resolve("tool")).toBe(at("second/tool"));
  });

  it("does not look into our own PATH", async () => {
    expect(await refusal(resolve("sh"))).toEqual({ code: "SPAWN_FAILED", data: { kind: "not-found", path: "sh" } });
  });

  it("falls back to the system's where the child has no PATH", async () => {
    expect(await resolveProgram("sh", at("cwd"))).toMatch(/^\/(usr\/)?bin\/sh$/);
  });

  it("reads relative entries, and an empty one, from the child's directory", async () => {
    expect(await resolve("nested", "bin")).toBe(at("cwd/bin/nested"));
    for (const folders of ["", ":/nowhere", "/nowhere:", "/nowhere::/nowhere", "."]) {
      expect(await resolve("here", folders)).toBe(at("cwd/here"));
    }
  });

  it("passes over what cannot be run while something that can follows", async () => {
    expect(await resolve("plain")).toBe(at("second/plain"));
    expect(await resolve("folder")).toBe(at("second/folder"));
  });

  it("says what it found when nothing of that name can be run", async () => {
    const notExecutable = { code: "SPAWN_FAILED", data: { kind: "not-executable", path: at("first/text") } };
    expect(await refusal(resolve("text"))).toEqual(notExecutable);
    const directory = { code: "SPAWN_FAILED", data: { kind: "is-directory", path: at("first/folder") } };
    expect(await refusal(resolve("folder", at("first")))).toEqual(directory);
  });

  it("takes a name with a slash for a path from the child's directory, whatever PATH says", async () => {
    expect(await resolve("./here")).toBe(at("cwd/here"));
    expect(await resolve("bin/nested")).toBe(at("cwd/bin/nested"));
    expect(await resolve("../second/tool")).toBe(at("second/tool"));
    expect(await resolve("/bin/sh")).toBe("/bin/sh");
  });

  it("passes over PATH entries that do not exist or are files", async () => {
    expect(await resolve("tool", `/nowhere:${at("first/text")}:${at("second")}`)).toBe(at("second/tool"));
  });
});
