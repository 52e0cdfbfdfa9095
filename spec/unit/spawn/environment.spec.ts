// The environment rules one by one.
import { describe, expect, it } from "@jest/globals";
import { buildEnvironment, environmentEntries } from "../../../lib/spawn/environment.ts";

const OWN = { PATH: "/bin", HOME: "/home/me", path: "lower", API_KEY: "k", EDITOR: "vi", UNSET: undefined };

describe("the environment of a child", () => {
  it("is exact by default", () => {
    expect(buildEnvironment({ env: { ONLY_THIS: "1" } }, OWN)).toEqual({ ONLY_THIS: "1" });
    expect(buildEnvironment({}, OWN)).toEqual({});
  });

  it("is that of the policy with the overlay on top", () => {
    const set = { POLICY_SET: "policy", BOTH: "policy" };
    const envPolicy = { inherit: "none", set } as const;
    expect(buildEnvironment({ env: { BOTH: "overlay" }, envPolicy }, OWN)).toEqual({ ...set, BOTH: "overlay" });
  });

  it.each(["EXECWIRE_TOKEN", "execwire_token", "ExecWire_Token"])("never contains %s from any source", (name) => {
    const all = { [name]: "1" };
    const envPolicy = { inherit: "all", ignoreDefaultExcludes: true, set: all } as const;
    expect(buildEnvironment({ env: { ...all, KEPT: "1" }, envPolicy }, all)).toEqual({ KEPT: "1" });
  });

  it.each([
    ["all", { PATH: "/bin", HOME: "/home/me", path: "lower", EDITOR: "vi" }],
    ["core", { PATH: "/bin", HOME: "/home/me" }],
    ["none", {}],
  ] as const)("inherits %s", (inherit, expected) => {
    expect(buildEnvironment({ envPolicy: { inherit } }, OWN)).toEqual(expected);
  });

  it("drops inherited secrets by default, and never explicit ones", () => {
    const envPolicy = { inherit: "all", set: { MY_TOKEN: "set" }, includeOnly: ["*key", "*token"] } as const;
    expect(buildEnvironment({ envPolicy }, OWN)).toEqual({ MY_TOKEN: "set" });
    expect(buildEnvironment({ envPolicy: { ...envPolicy, ignoreDefaultExcludes: true } }, OWN)).toEqual({
      API_KEY: "k",
      MY_TOKEN: "set",
    });
  });

  it("matches every character of a pattern literally, except * and ?", () => {
    const own = { "A.B": "1", AxB: "2", "A+": "3", AA: "4" };
    const keep = (glob: string) =>
      Object.keys(buildEnvironment({ envPolicy: { inherit: "all", includeOnly: [glob] } }, own));
    expect(["a.b", "a?b", "a+", "*", "a", ""].map(keep)).toEqual([
      ["A.B"],
      ["A.B", "AxB"],
      ["A+"],
      ["A.B", "AxB", "A+", "AA"],
      [],
      [],
    ]);
  });

  it("is made fast for a glob of many stars, on which backtracking takes ages", () => {
    const own = { ["A".repeat(200)]: "1" };
    const exclude = [`${"*A".repeat(40)}B`];
    expect(buildEnvironment({ envPolicy: { inherit: "all", exclude } }, own)).toEqual(own);
  });

  it("is refused if globs times names exceed the limit of steps", () => {
    const set = { ["A".repeat(100)]: "1" };
    const envPolicy = { inherit: "none", set, includeOnly: ["*A".repeat(50)] } as const;
    expect(buildEnvironment({ envPolicy }, {}, 101 * 101)).toEqual(set);
    expect(() => buildEnvironment({ envPolicy }, {}, 101 * 101 - 1)).toThrow(
      expect.objectContaining({ code: "LIMIT_EXCEEDED", data: { limit: "envGlobSteps" } }),
    );
  });
});

describe("the entries of an environment", () => {
  const original = (entry: string, name: string, value: string, isRepeated = false) => ({
    entry,
    name,
    value,
    isRepeated,
  });
  const originals = [
    original("B=1", "B", "1"),
    original("L=\udce9", "L", "\ufffd"),
    original("no equals sign", "", "no equals sign"),
    original("A=1", "A", "1"),
    original("B=2", "B", "2", true),
  ];
  const own = { A: "1", B: "1", L: "\ufffd" };
  const entriesFor = (spec: Parameters<typeof buildEnvironment>[0], now: Record<string, string> = own) =>
    environmentEntries(buildEnvironment(spec, now), spec, originals);
  const everything = { inherit: "all", ignoreDefaultExcludes: true } as const;

  it("are the original ones, in their order, if the policy passes everything", () => {
    expect(entriesFor({ envPolicy: everything })).toEqual(["B=1", "L=\udce9", "no equals sign", "A=1", "B=2"]);
  });

  it("that a program has changed since its start are the new ones", () => {
    expect(entriesFor({ envPolicy: everything }, { A: "3", N: "4" })).toEqual(["no equals sign", "A=3", "N=4"]);
    expect(entriesFor({ envPolicy: everything, env: { B: "5", L: "6" } })).toEqual([
      "no equals sign",
      "A=1",
      "B=5",
      "L=6",
    ]);
  });

  it("that a policy cannot judge by a name are not passed by one that filters", () => {
    expect(entriesFor({ envPolicy: { ...everything, exclude: ["A"] } })).toEqual(["B=1", "L=\udce9"]);
    expect(entriesFor({ envPolicy: { inherit: "none" }, env: { A: "1" } })).toEqual(["A=1"]);
    expect(entriesFor({ env: { A: "1" } })).toEqual(["A=1"]);
  });
});
