// Which file a program name means: looked up in the child's PATH and from the child's directory, like execvp(3).
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
  it("finds the first file in the child's PATH", async () => {
    expect(await resolve("both")).toBe(at("first/both"));
    expect(await resolve("both", `${at("second")}:${at("first")}`)).toBe(at("second/both"));
    expect(await resolve("tool")).toBe(at("second/tool"));
  });

  it("does not use our own PATH", async () => {
    expect(await refusal(resolve("sh"))).toEqual({ code: "SPAWN_FAILED", data: { kind: "not-found", path: "sh" } });
  });

  it("falls back to the system's PATH if the child has none", async () => {
    expect(await resolveProgram("sh", at("cwd"))).toMatch(/^\/(usr\/)?bin\/sh$/);
  });

  it("resolves relative and empty entries from the child's directory", async () => {
    expect(await resolve("nested", "bin")).toBe(at("cwd/bin/nested"));
    for (const folders of ["", ":/nowhere", "/nowhere:", "/nowhere::/nowhere", "."]) {
      expect(await resolve("here", folders)).toBe(at("cwd/here"));
    }
  });

  it("skips files that cannot be executed if an executable one follows", async () => {
    expect(await resolve("plain")).toBe(at("second/plain"));
    expect(await resolve("folder")).toBe(at("second/folder"));
  });

  it("reports what it found if no file of that name can be executed", async () => {
    const notExecutable = { code: "SPAWN_FAILED", data: { kind: "not-executable", path: at("first/text") } };
    expect(await refusal(resolve("text"))).toEqual(notExecutable);
    const directory = { code: "SPAWN_FAILED", data: { kind: "is-directory", path: at("first/folder") } };
    expect(await refusal(resolve("folder", at("first")))).toEqual(directory);
  });

  it("leaves a name with a slash to the kernel, which resolves it from the child's directory", async () => {
    expect(await resolve("./here")).toBe("./here");
    expect(await resolve("bin/nested")).toBe("bin/nested");
    expect(await resolve("../second/tool")).toBe("../second/tool");
    expect(await resolve("/bin/sh")).toBe("/bin/sh");
  });

  it("skips PATH entries that do not exist or are files", async () => {
    expect(await resolve("tool", `/nowhere:${at("first/text")}:${at("second")}`)).toBe(at("second/tool"));
  });
});
