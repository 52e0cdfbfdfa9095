// The environment rules one by one.
import { describe, expect, it } from "@jest/globals";
import { buildEnvironment } from "../../../lib/spawn/environment.ts";

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
