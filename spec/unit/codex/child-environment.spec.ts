// The environment of children of Codex clients; the first three are the exec-server's own unit tests (child_env_*).
import { describe, expect, it } from "@jest/globals";
import { childEnvironment, type EnvironmentRequest } from "../../../lib/codex/server/child-environment.ts";
import { buildEnvironment } from "../../../lib/spawn/environment.ts";
import type { EnvPolicy } from "../../../protocol/index.ts";

const THREAD = "019d25f0-6728-7ce2-908f-c3c187323e5b";
const OWN = { PATH: "/bin", CODEX_THREAD_ID: "inherited-thread", CODEX_TOOL_CALL_ID: "inherited-call" };

/** The environment on this host, for a partial policy. */
function environmentOf(
  request: Omit<EnvironmentRequest, "envPolicy"> & { readonly envPolicy?: EnvPolicy },
  own: object,
) {
  const whole = { ignoreDefaultExcludes: false, exclude: [], set: {}, includeOnly: [] };
  const envPolicy = request.envPolicy && { ...whole, ...request.envPolicy };
  return buildEnvironment(childEnvironment({ ...request, envPolicy }), { ...own });
}

describe("the environment of a child of a Codex client", () => {
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
    expect(environmentOf({ env, envPolicy, metadata }, OWN)).toEqual({
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
    expect(environmentOf({ env, metadata }, OWN)).toEqual({ ...others, ...expected });
  });

  it("keeps only the thread without metadata", () => {
    const kept = {
      CODEX_THREAD_ID: "prewarm-thread",
      Codex_Thread_Id: "mixed-case-thread",
      Codex_Tool_Call_Id: "mixed-case-call",
    };
    expect(environmentOf({ env: { ...kept, CODEX_TOOL_CALL_ID: "stale-call" } }, OWN)).toEqual(kept);
  });

  it("keeps an empty call id and omits one with a NUL", () => {
    const env = { CODEX_TOOL_CALL_ID: "stale" };
    expect(environmentOf({ env, metadata: { toolCallId: "" } }, OWN)).toEqual({ CODEX_TOOL_CALL_ID: "" });
    expect(environmentOf({ env, metadata: { toolCallId: "a\0b" } }, OWN)).toEqual({});
  });

  it.each([
    [undefined, { PATH: "/bin", CODEX_THREAD_ID: "inherited-thread" }],
    [{}, { PATH: "/bin" }],
    [
      { threadId: THREAD, toolCallId: "call" },
      { PATH: "/bin", CODEX_THREAD_ID: THREAD, CODEX_TOOL_CALL_ID: "call" },
    ],
  ])("inherits no stale id with the metadata %j", (metadata, expected) => {
    expect(environmentOf({ env: {}, envPolicy: { inherit: "all" }, metadata }, OWN)).toEqual(expected);
  });

  it("has names of any kind, as a program finds them: a name ends at its first =", () => {
    const env = { "A B": "1", "C=D": "2", "": "3", "=E": "4", F: "5", "F=G": "6" };
    expect(environmentOf({ env }, OWN)).toEqual({ "A B": "1", C: "D=2", F: "5" });
    expect(environmentOf({ env: { "node_repl_auth_token=x": "1", "CODEX_TOOL_CALL_ID=y": "2" } }, OWN)).toEqual({});
  });

  it.each([
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
    expect(environmentOf({ env: { ...all, KEPT: "1" }, envPolicy }, all)).toEqual({ KEPT: "1" });
  });
});
