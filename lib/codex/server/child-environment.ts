// The environment of a child as the exec-server makes it: the ids of its caller come from the metadata, never from an older
// process, and what the server itself was launched with stays with the server. Order and names are those of its child_env.
import type { EnvPolicy, ProcessSpec } from "../../../protocol/index.ts";

const THREAD_ID = "CODEX_THREAD_ID";
const TOOL_CALL_ID = "CODEX_TOOL_CALL_ID";

/**
 * Credentials and launch context of the server, not passed on in any letter case, not even when set explicitly: a child that has
 * them could act as its server.
 */
export const SERVER_VARIABLES: readonly string[] = [
  "CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE",
  "CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN",
  "NODE_REPL_AUTH_TOKEN",
  "OPENAI_FEDERATION_RULE_ID",
  "OPENAI_IDENTITY_TOKEN_FILE",
  "OPENAI_WORKLOAD_IDENTITY_CONTEXT",
];

/** What a client says about the environment of a process. */
export interface EnvironmentRequest {
  readonly env: Readonly<Record<string, string>>;
  readonly envPolicy?: Required<EnvPolicy> | undefined;
  readonly metadata?: { readonly threadId?: string | undefined; readonly toolCallId?: string | undefined } | undefined;
}

/** With metadata both ids are set or removed. Without it a thread id stays; a call id is always stale. */
export function childEnvironment({
  env,
  envPolicy,
  metadata,
}: EnvironmentRequest): Pick<ProcessSpec, "env" | "envPolicy"> {
  const stale = metadata ? [THREAD_ID, TOOL_CALL_ID] : [TOOL_CALL_ID];
  const fresh = Object.entries({ [THREAD_ID]: metadata?.threadId, [TOOL_CALL_ID]: metadata?.toolCallId });
  const passedOn = (variables: Readonly<Record<string, string>>) =>
    Object.entries(variables).filter(
      ([name]) => !stale.includes(name) && !SERVER_VARIABLES.includes(name.toUpperCase()),
    );
  // The policy excludes inherited variables in any letter case.
  const excluded = [...SERVER_VARIABLES, ...stale];
  const ids = fresh.filter((entry): entry is [string, string] => entry[1] !== undefined && !entry[1].includes("\0"));
  return {
    env: Object.fromEntries([...passedOn(env), ...ids]),
    ...(envPolicy && {
      envPolicy: {
        ...envPolicy,
        exclude: [...envPolicy.exclude, ...excluded],
        set: Object.fromEntries(passedOn(envPolicy.set)),
      },
    }),
  };
}
