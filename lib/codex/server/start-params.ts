// `process/start`: the client's params, and their translation to a process spec. What cannot be honoured is refused.
import {
  type Limits,
  loginShell,
  type NetworkWishes,
  PATH_MAX_BYTES,
  type ProcessSpec,
  present,
} from "../../../protocol/index.ts";
import { CODE, CodexError, wrongParams } from "../codex-error.ts";
import {
  anything,
  boolean,
  type Decoded,
  type Field,
  listOf,
  mapOf,
  oneOf,
  optional,
  string,
  struct,
  withDefault,
} from "../decode.ts";
import { nativePath, type PathUri, pathUri } from "../path-uri.ts";
import { childEnvironment } from "./child-environment.ts";
import { type NetworkLaunch, networkOf, networkSpec } from "./network/network-request.ts";
import { policyOf } from "./sandbox-request.ts";

const envPolicy = struct("EnvPolicy", {
  inherit: oneOf("all", "core", "none"),
  ignoreDefaultExcludes: boolean,
  exclude: listOf(string),
  set: mapOf(string),
  includeOnly: listOf(string),
});

const threadId: Field<string> = {
  decode(value) {
    const text = string.decode(value);
    if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text;
    throw wrongParams(`threadId must be a UUID, got ${JSON.stringify(text.slice(0, 100))}`);
  },
};

const SHELL = { name: string, path: string };

const fields = {
  processId: string,
  argv: listOf(string),
  cwd: pathUri,
  env: mapOf(string),
  tty: boolean,
  pipeStdin: withDefault(boolean, false),
  arg0: optional(string),
  envPolicy: optional(envPolicy),
  metadata: optional(struct("Metadata", { threadId: optional(threadId), toolCallId: optional(string) })),
  sandbox: anything,
  enforceManagedNetwork: withDefault(boolean, false),
  managedNetwork: anything,
  networkProxy: anything,
  shellSnapshot: optional(struct("ShellSnapshotRequest", { scopeId: string, shell: struct("ShellInfo", SHELL) })),
};

/** The params of `process/start`. */
export const startParams: Field<Decoded<typeof fields>> = struct("ExecParams", fields);

/** What a start asks for. */
export interface CodexStart {
  readonly spec: ProcessSpec;
  /** What the client does about the network of the process; undefined if that is none of its own. */
  readonly network: NetworkWishes | undefined;
}

/** The process spec, on a host with this login shell. Throws for invalid params and for what this server does not support. */
export function startOf(
  params: Decoded<typeof fields>,
  shell: string,
  { processIdChars }: Pick<Limits, "processIdChars">,
): CodexStart {
  const { argv, cwd, env, tty, pipeStdin, arg0 } = params;
  // Every message about the process repeats it.
  if (params.processId.length > processIdChars) {
    throw wrongParams(`processId has ${params.processId.length} characters; at most ${processIdChars} are allowed`);
  }
  const launch = networkOf(params.networkProxy, params.processId);
  const directory = cwdOf(cwd);
  const sandbox = policyOf(params.sandbox);
  refuseRestrictions(params, launch);
  if (argv.length === 0) throw wrongParams("argv must not be empty");
  refuseNul({ argv, arg0: arg0 === undefined ? [] : [arg0], env: Object.entries(env).flat() });
  // With a proxy, clients expect this variable.
  const variables = launch ? { ...env, CODEX_NETWORK_PROXY_ACTIVE: "1" } : env;
  const spec: ProcessSpec = present({
    argv,
    cwd: directory,
    ...childEnvironment({ ...params, env: tty ? { SHELL: shellOf(params, shell), ...variables } : variables }),
    tty,
    pipeStdin,
    arg0,
    ...networkSpec(launch?.network, sandbox, params.enforceManagedNetwork),
    shellSnapshot: snapshotOf(params),
    // Shown in lists, where the process has another id, which is unique on this host.
    labels: { codex: labelOf(params.processId), ...idLabels(params.metadata) },
  });
  return { spec, network: launch && { requests: launch.isAsked, decisions: true } };
}

/** The exec-server adds this variable, and no other, to the environment of a terminal that has none. */
function shellOf({ envPolicy }: Decoded<typeof fields>, shell: string): string {
  const inherited = envPolicy && envPolicy.inherit !== "none" ? process.env.SHELL : undefined;
  return envPolicy?.set.SHELL ?? inherited ?? shell;
}

function labelOf(id: string): string {
  return [...id.replaceAll("\0", "")].slice(0, 64).join("");
}

/** The ids with which a client finds its work in traces; nothing that could be more than an id. */
function idLabels(metadata: Decoded<typeof fields>["metadata"]): Readonly<Record<string, string>> {
  const { threadId: thread, toolCallId } = metadata ?? {};
  const isPermitted = toolCallId !== undefined && /^[A-Za-z0-9_.:-]{1,256}$/.test(toolCallId);
  return present({ threadId: thread, toolCallId: isPermitted ? toolCallId : undefined });
}

function cwdOf(cwd: PathUri): string {
  try {
    const path = nativePath(cwd);
    if (Buffer.byteLength(path) <= PATH_MAX_BYTES) return path;
  } catch (error) {
    const reason = (error as Error).message;
    throw wrongParams(`cwd URI \`${cwd.text}\` is not valid on this exec-server host: ${reason}`);
  }
  throw new CodexError(CODE.failed, "File name too long (os error 36)", { kind: "spawnFailed" });
}

/** The snapshot of a login shell; any other command runs without one. */
function snapshotOf({ shellSnapshot, argv, arg0 }: Decoded<typeof fields>): ProcessSpec["shellSnapshot"] {
  if (argv[0] !== shellSnapshot?.shell.path) return undefined;
  return loginShell(present({ argv, arg0 })) && shellSnapshot && { scope: shellSnapshot.scopeId };
}

/** Restrictions must be enforced or refused, never ignored. */
function refuseRestrictions(params: Decoded<typeof fields>, launch: NetworkLaunch | undefined): void {
  // Both describe a proxy of the client's own machine; one that is started here replaces it.
  if (launch) return;
  const { enforceManagedNetwork, managedNetwork } = params;
  const asked = { enforceManagedNetwork: enforceManagedNetwork || undefined, managedNetwork };
  for (const [name, value] of Object.entries(asked)) {
    if (value === undefined || value === null) continue;
    throw wrongParams(`this exec-server cannot honour \`${name}\` yet, and does not start the process without it`);
  }
}

function refuseNul(texts: Readonly<Record<string, readonly string[]>>): void {
  for (const [name, values] of Object.entries(texts)) {
    if (!values.some((value) => value.includes("\0"))) continue;
    throw new CodexError(CODE.failed, `nul byte found in provided data (${name})`, { kind: "spawnFailed" });
  }
}
