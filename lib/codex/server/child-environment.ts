// The environment of a child, as the exec-server builds it: the caller's ids come from the request's metadata, never from an
// older process, and the server's own launch context is not passed on. Order and names are those of its child_env.
import { type EnvPolicy, type ProcessSpec, present } from "../../../protocol/index.ts";

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

/** The environment that a client requests. */
export interface EnvironmentRequest {
  readonly env: Readonly<Record<string, string>>;
  readonly envPolicy?: Required<EnvPolicy> | undefined;
  readonly metadata?: { readonly threadId?: string | undefined; readonly toolCallId?: string | undefined } | undefined;
}

/** With metadata both ids are set or removed. Without it a thread id is kept, but a call id is removed as stale. */
export function childEnvironment({
  env,
  envPolicy,
  metadata,
}: EnvironmentRequest): Pick<ProcessSpec, "env" | "envPolicy"> {
  const { threadId, toolCallId } = metadata ?? {};
  const ids = { [THREAD_ID]: threadId, [TOOL_CALL_ID]: toolCallId?.includes("\0") ? undefined : toolCallId };
  const stale = metadata ? [THREAD_ID, TOOL_CALL_ID] : [TOOL_CALL_ID];
  const isPassedOn = (name: string) => !stale.includes(name) && !SERVER_VARIABLES.includes(name.toUpperCase());
  const passedOn = (variables: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(asKernelReads(variables)).filter(([name]) => isPassedOn(name)));
  // Inherited variables are excluded in any letter case, the ids too.
  const exclude = [...(envPolicy?.exclude ?? []), ...SERVER_VARIABLES, ...stale];
  return present({
    env: { ...passedOn(env), ...present(ids) },
    envPolicy: envPolicy && { ...envPolicy, exclude, set: passedOn(envPolicy.set) },
  });
}

/**
 * The variables as a program finds them: its environment is a list of `NAME=VALUE`, in which a name ends at the first `=`. Names
 * may hold anything else. An entry without a name, which no program can look up, is left out.
 */
function asKernelReads(variables: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const read = new Map<string, string>();
  for (const [name, value] of Object.entries(variables)) {
    const [, first = "", rest] = /^([^=]*)(?:=(.*))?$/s.exec(name) ?? [];
    // A variable with exactly this name counts.
    if (first !== "" && (rest === undefined || !Object.hasOwn(variables, first)))
      read.set(first, rest === undefined ? value : `${rest}=${value}`);
  }
  return Object.fromEntries(read);
}
