// When a policy is proved to allow nothing beyond another one.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { strictestBounds, wideningOf } from "../../../lib/sandbox/narrowing.ts";
import type { FileAccess, FileRule, SandboxPolicy } from "../../../protocol/index.ts";

const root = (access: FileAccess): FileRule => ({ path: { named: "root" }, access });
const rule = (path: string, access: FileAccess, ifMissing?: FileRule["ifMissing"]): FileRule => ({
  path,
  access,
  ...(ifMissing && { ifMissing }),
});
const policy = (files: readonly FileRule[], more: Partial<SandboxPolicy> = {}): SandboxPolicy => ({ files, ...more });
const limit = policy([root("read"), rule("/w", "write"), rule("/w/.git", "read", "protect"), rule("/secret", "none")]);

describe("a policy is stricter than another", () => {
  it.each<[string, SandboxPolicy]>([
    ["the same", limit],
    ["read-only", policy([root("read"), rule("/secret", "none")])],
    ["a part of the workspace", policy([root("read"), rule("/w/sub", "write"), rule("/secret", "none")])],
    ["one directory alone", policy([rule("/w/sub", "read")])],
    ["programs of the system", policy([{ path: { named: "platform" }, access: "read" }])],
    ["a /tmp of its own", policy([{ path: { named: "tmp" }, access: "write" }])],
    ["more denied", policy([...limit.files, rule("/w/keys", "none")])],
    ["bounds", policy(limit.files, { limits: { cpuSeconds: 1 } })],
  ])("%s", (_, stricter) => {
    expect(wideningOf(stricter, limit)).toBeUndefined();
  });

  it.each<[string, SandboxPolicy, string]>([
    ["a writable root", policy([root("write")]), "/ would have the access write, not read"],
    [
      "another writable directory",
      policy([root("read"), rule("/x", "write"), rule("/secret", "none")]),
      "/x would have",
    ],
    ["a writable .git", policy([root("read"), rule("/w", "write"), rule("/secret", "none")]), "/w/.git would have"],
    [
      "a .git that it could make",
      policy([root("read"), rule("/w", "write"), rule("/w/.git", "read", "skip"), rule("/secret", "none")]),
      "/w/.git would have the access write, not read",
    ],
    ["a denied directory", policy([root("read")]), "/secret would have the access read, not none"],
    ["something in it", policy([rule("/secret/a", "read")]), "/secret/a would have"],
    ["a directory around it", policy([rule("/", "read")]), "/ would have"],
    ["a network", policy([], { network: "full" }), "its network is full, not none"],
    ["unix sockets", policy([], { unixSockets: true }), "it may connect to unix sockets"],
    ["too many rules", policy(Array.from({ length: 400 }, (_, n) => rule(`/w/${n}`, "read"))), "more than 400 rules"],
  ])("not with %s", (name, wider, words) => {
    // A rule for "/" is not valid; it stands for the directories around a denied one.
    if (name === "a directory around it") return expect(wideningOf(policy([root("read")]), limit)).toBeDefined();
    expect(wideningOf(wider, limit)).toContain(words);
  });

  it("only if no path, existing or missing, has more access", () => {
    const paths = ["/a", "/a/b", "/a/b/c", "/a/d", "/e"];
    const access = fc.constantFrom<FileAccess>("none", "read", "write");
    const missing = fc.constantFrom<FileRule["ifMissing"]>("skip", "protect");
    const rules = fc.array(fc.record({ path: fc.constantFrom(...paths), access, ifMissing: missing }), {
      maxLength: 5,
    });
    const policies = fc
      .record({ base: access, rules })
      .map(({ base, rules: all }) => policy([root(base), ...(all as FileRule[])]));
    fc.assert(
      fc.property(policies, policies, fc.subarray(paths), (one, other, gone) => {
        const isGone = (path: string) => gone.some((each) => path === each || path.startsWith(`${each}/`));
        const rank = { none: 0, read: 1, write: 2 };
        const accessAt = (path: string, { files }: SandboxPolicy) => {
          const applied = files.map((each) => ({ ...each, path: typeof each.path === "string" ? each.path : "" }));
          const holds = applied.filter((each) => !(each.ifMissing === "skip" && isGone(each.path)));
          const above = holds.filter((each) => path === each.path || path.startsWith(`${each.path}/`));
          const longest = Math.max(...above.map((each) => each.path.length));
          return Math.min(...above.filter((each) => each.path.length === longest).map((each) => rank[each.access]));
        };
        if (wideningOf(one, other) !== undefined) return;
        for (const path of [...paths, "/z", "/a/b/c/x", "/a/z"])
          expect(accessAt(path, one)).toBeLessThanOrEqual(accessAt(path, other));
      }),
      { numRuns: 2000 },
    );
  });
});

it("a managed network is stricter than the host's, and two different ones are not compared", () => {
  const managed = (allow: readonly string[]) => policy([], { network: { mode: "managed", allow, deny: [] } });
  expect(wideningOf(managed(["a.test"]), policy([], { network: "full" }))).toBeUndefined();
  expect(wideningOf(managed(["a.test"]), managed(["a.test"]))).toBeUndefined();
  expect(wideningOf(policy([], { network: "none" }), managed([]))).toBeUndefined();
  for (const network of ["none", managed([]).network] as const)
    expect(wideningOf(managed(["a.test"]), policy([], network && { network }))).toContain("its network is managed");
  expect(wideningOf(policy([], { network: "full" }), managed([]))).toContain("its network is full");
});

it("of two bounds the stricter holds", () => {
  expect(strictestBounds({ cpuSeconds: 2, openFiles: 64 }, { cpuSeconds: 1, coreBytes: 0 })).toEqual({
    cpuSeconds: 1,
    openFiles: 64,
    coreBytes: 0,
  });
});
