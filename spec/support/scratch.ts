// A folder for the files of one spec file, removed at its end.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "@jest/globals";

/** Creates the folder; returns a function that returns the path of a name in it. */
export function makeScratch(): (name: string) => string {
  const folder = mkdtempSync(join(tmpdir(), "execwire-spec-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (name) => join(folder, name);
}

/** Creates names that no other process on the machine has. */
export function uniqueName(prefix: string): string {
  return `${prefix}-${process.pid}-${Math.random().toString(36).slice(2)}`;
}
