// The environment rules one by one; the first four are the Codex exec-server's own unit tests (child_env_*).
import { describe, expect, it } from "@jest/globals";
import { buildEnvironment } from "../../../lib/spawn/environment.ts";

const THREAD = "019d25f0-6728-7ce2-908f-c3c187323e5b";
const OWN = { PATH: "/bin", HOME: "/home/me", path: "lower", API_KEY: "k", EDITOR: "vi", UNSET: undefined };

describe("the environment of a child", () => {
  it("is exact by default", () => {
    expect(buildEnvironment({ env: { ONLY_THIS: "1" } }, OWN)).toEqual({ ONLY_THIS: "1" });
    expect(buildEnvironment({}, OWN)).toEqual({});
  });

  it("is the policy's with the overlay on top, and the metadata above both", () => {
    const env = {
      OVERLAY: "overlay",
      POLICY_SET: "overlay-wins",
      CODEX_THREAD_ID: "overlay-thread",
      CODEX_TOOL_CALL_ID: "overlay-call",
      openai_identity_token_file: "/run/identity-token",
    };
    const set = {
      POLICY_SET: "policy",
      OpenAI_Federation_Rule_Id: "rule",
      CODEX_THREAD_ID: "policy-thread",
      CODEX_TOOL_CALL_ID: "policy-call",
    };
    const envPolicy = { inherit: "none", ignoreDefaultExcludes: true, exclude: [], set, includeOnly: [] } as const;
    const metadata = { threadId: THREAD, toolCallId: "current-call" };
    expect(buildEnvironment({ env, envPolicy, metadata }, OWN)).toEqual({
      OVERLAY: "overlay",
      POLICY_SET: "overlay-wins",
      CODEX_THREAD_ID: THREAD,
      CODEX_TOOL_CALL_ID: "current-call",
    });
  });

  it.each([
    [{ threadId: THREAD }, { CODEX_THREAD_ID: THREAD }],
    [{ toolCallId: "exec-call-only" }, { CODEX_TOOL_CALL_ID: "exec-call-only" }],
    [{}, {}],
  ])("with the partial metadata %j loses the stale counterpart", (metadata, expected) => {
    const others = { Codex_Thread_Id: "mixed-case-thread", codex_thread_id: "lowercase-thread", OTHER: "unchanged" };
    const env = { ...others, CODEX_THREAD_ID: "stale-thread", CODEX_TOOL_CALL_ID: "stale-call" };
    expect(buildEnvironment({ env, metadata }, OWN)).toEqual({ ...others, ...expected });
  });

  it("without metadata keeps the thread alone", () => {
    const kept = {
      CODEX_THREAD_ID: "prewarm-thread",
      Codex_Thread_Id: "mixed-case-thread",
      Codex_Tool_Call_Id: "mixed-case-call",
    };
    expect(buildEnvironment({ env: { ...kept, CODEX_TOOL_CALL_ID: "stale-call" } }, OWN)).toEqual(kept);
  });

  it("keeps an empty call id and leaves out one with NUL", () => {
    const env = { CODEX_TOOL_CALL_ID: "stale" };
    expect(buildEnvironment({ env, metadata: { toolCallId: "" } }, OWN)).toEqual({ CODEX_TOOL_CALL_ID: "" });
    expect(buildEnvironment({ env, metadata: { toolCallId: "a\0b" } }, OWN)).toEqual({});
  });

  it.each([
    "EXECWIRE_TOKEN",
    "CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE",
    "CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN",
    "NODE_REPL_AUTH_TOKEN",
    "OPENAI_FEDERATION_RULE_ID",
    "OPENAI_IDENTITY_TOKEN_FILE",
    "OPENAI_WORKLOAD_IDENTITY_CONTEXT",
  ])("never holds %s, in no letter case and from no source", (name) => {
    const mixed = [...name].map((letter, at) => (at % 2 ? letter.toLowerCase() : letter)).join("");
    const all = { [name]: "1", [name.toLowerCase()]: "2", [mixed]: "3" };
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

  it("drops inherited secrets unless told not to, and never those that are set", () => {
    const envPolicy = { inherit: "all", set: { MY_TOKEN: "set" }, includeOnly: ["*key", "*token"] } as const;
    expect(buildEnvironment({ envPolicy }, OWN)).toEqual({ MY_TOKEN: "set" });
    expect(buildEnvironment({ envPolicy: { ...envPolicy, ignoreDefaultExcludes: true } }, OWN)).toEqual({
      API_KEY: "k",
      MY_TOKEN: "set",
    });
  });

  it("takes every character of a pattern but * and ? for itself", () => {
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

  it("is made at once with a glob of many stars, each of which could stand for much: trying all ways takes ages", () => {
    const own = { ["A".repeat(200)]: "1" };
    const exclude = [`${"*A".repeat(40)}B`];
    expect(buildEnvironment({ envPolicy: { inherit: "all", exclude } }, own)).toEqual(own);
  });

  it("is refused where globs times names are more than any policy needs, by an explicit limit", () => {
    const set = { ["A".repeat(100)]: "1" };
    const envPolicy = { inherit: "none", set, includeOnly: ["*A".repeat(50)] } as const;
    expect(buildEnvironment({ envPolicy }, {}, 101 * 101)).toEqual(set);
    expect(() => buildEnvironment({ envPolicy }, {}, 101 * 101 - 1)).toThrow(
      expect.objectContaining({ code: "LIMIT_EXCEEDED", data: { limit: "envGlobSteps" } }),
    );
  });
});
