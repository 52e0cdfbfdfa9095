// Where the commands of one user look for the local server, whatever XDG_RUNTIME_DIR was inherited from whom.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "@jest/globals";
import { makeRuntimeDirectory, runtimeDirectories, whyNotNamed } from "../../../lib/cli/server/runtime-directory.ts";
import { makeScratch } from "../../support/scratch.ts";

const scratch = makeScratch();
const { XDG_RUNTIME_DIR } = process.env;
afterEach(() => {
  if (XDG_RUNTIME_DIR === undefined) delete process.env.XDG_RUNTIME_DIR;
  else process.env.XDG_RUNTIME_DIR = XDG_RUNTIME_DIR;
});

const shared = `/tmp/execwire-${process.getuid?.()}`;

it("is in the directory that the environment names, and the one in /tmp is looked at too", () => {
  const own = scratch("own");
  mkdirSync(own);
  process.env.XDG_RUNTIME_DIR = own;
  expect(runtimeDirectories()).toEqual([join(own, "execwire"), shared]);
  expect(whyNotNamed()).toBeUndefined();
});

it.each(["/no/such/directory", "relative", "/dev/null", ...(process.getuid?.() === 0 ? [] : ["/"])])(
  "is in /tmp when the environment names %s, and the user is told",
  (named) => {
    process.env.XDG_RUNTIME_DIR = named;
    expect(runtimeDirectories()).toEqual([shared]);
    expect(whyNotNamed()).toContain(named);
  },
);

it("loses the tokens of servers that were killed, and nothing else", () => {
  const own = scratch("stale");
  mkdirSync(join(own, "execwire"), { recursive: true, mode: 0o700 });
  process.env.XDG_RUNTIME_DIR = own;
  // No process has a pid above the limit of the kernel.
  const names = ["token-4194305", `token-${process.pid}`, "token-mine", "server.json", "server.json.4194305"];
  for (const name of names) writeFileSync(join(own, "execwire", name), "");
  expect(readdirSync(makeRuntimeDirectory()).sort()).toEqual(
    ["server.json", `token-${process.pid}`, "token-mine"].sort(),
  );
});
