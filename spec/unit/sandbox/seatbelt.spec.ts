// The profiles for macOS, as text: they were not run, since that needs a Mac.
import { describe, expect, it } from "@jest/globals";
import { seatbeltProfile } from "../../../lib/sandbox/seatbelt.ts";
import type { FileRule, SandboxPolicy } from "../../../protocol/index.ts";

const root = (access: "read" | "write"): FileRule => ({ path: { named: "root" }, access });
const profileOf = (files: readonly FileRule[], more: Partial<SandboxPolicy> = {}) =>
  seatbeltProfile({ files, ...more }, { privateTmp: "/private/tmp/own", proxyPort: 3128 }).split("\n");
/** The lines about files below a directory. */
const about = (path: string, lines: readonly string[]) => lines.filter((line) => line.includes(`"${path}`));

describe("a profile (not run)", () => {
  it("denies what it does not allow, and begins with its version", () => {
    expect(profileOf([]).slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
    expect(about("/private", profileOf([]))).toEqual([]);
  });

  it("has its rules from the shallowest path to the deepest, the last of which counts", () => {
    const files: FileRule[] = [
      { path: "/w/.git", access: "read" },
      { path: "/w/keys/own", access: "write" },
      { path: "/w", access: "write" },
      { path: "/w/keys", access: "none" },
      root("read"),
    ];
    expect(profileOf(files).filter((line) => /"\/"|"\/w/.test(line))).toEqual([
      '(allow file-read* (subpath "/"))',
      '(deny file-write* (subpath "/"))',
      '(allow file-read* file-write* (subpath "/w"))',
      '(allow file-read* (subpath "/w/.git"))',
      '(deny file-write* (subpath "/w/.git"))',
      '(deny file-read* file-write* (subpath "/w/keys"))',
      '(allow file-read* file-write* (subpath "/w/keys/own"))',
    ]);
  });

  it("has one rule for a path, the strictest", () => {
    const files: FileRule[] = ["write", "none", "read"].map((access) => ({ path: "/x", access }) as FileRule);
    expect(about("/x", profileOf(files))).toEqual(['(deny file-read* file-write* (subpath "/x"))']);
  });

  it("does not let a directory be moved away that has something protected in it", () => {
    const files: FileRule[] = [root("read"), { path: "/w", access: "write" }, { path: "/w/a/b/.git", access: "read" }];
    expect(profileOf(files).filter((line) => line.includes("unlink"))).toEqual([
      '(deny file-write-unlink (literal "/w/a"))',
      '(deny file-write-unlink (literal "/w/a/b"))',
    ]);
  });

  it("names the programs of the system, without the secrets of /etc, and a private directory for /tmp", () => {
    const lines = profileOf([
      { path: { named: "platform" }, access: "read" },
      { path: { named: "tmp" }, access: "write" },
    ]);
    expect(lines).toContain('(allow file-read* (subpath "/usr"))');
    expect(lines.join()).not.toMatch(/"\/private\/etc"|sudoers|master\.passwd/);
    expect(about("/private/tmp/own", lines)).toEqual(['(allow file-read* file-write* (subpath "/private/tmp/own"))']);
  });

  it("quotes a path, and refuses one that cannot be quoted", () => {
    expect(about("/a", profileOf([{ path: '/a"b\\c', access: "read" }]))[0]).toBe(
      '(allow file-read* (subpath "/a\\"b\\\\c"))',
    );
    expect(() => profileOf([{ path: "/a\nb", access: "read" }])).toThrow(RangeError);
  });

  it.each<[string, Partial<SandboxPolicy>, readonly string[]]>([
    ["none", {}, []],
    [
      "unix sockets alone",
      { unixSockets: true },
      ["(allow system-socket)", "(allow network-outbound (remote unix-socket))"],
    ],
    [
      "managed",
      { network: { mode: "managed", allow: [], deny: [] } },
      ["(allow system-socket)", '(allow network-outbound (remote ip "localhost:3128"))'],
    ],
    [
      "full",
      { network: "full" },
      [
        "(allow system-socket)",
        "(allow network-outbound)",
        "(allow network-inbound)",
        "(allow network-bind)",
        "(deny network-outbound (remote unix-socket))",
        '(allow network-outbound (literal "/private/var/run/mDNSResponder"))',
      ],
    ],
  ])("has this network: %s", (_, more, expected) => {
    expect(profileOf([root("read")], more).filter((line) => /network|socket/.test(line))).toEqual(expected);
  });

  it("needs the port of the proxy of a managed network", () => {
    const policy = { files: [], network: { mode: "managed", allow: [], deny: [] } } as const;
    expect(() => seatbeltProfile(policy, { privateTmp: "/t" })).toThrow("needs the port");
  });
});
