// Translates a process spec to params of `process/start`. What the dialect cannot express is refused by name; nothing is
// silently left out.
import { isAbsolute } from "node:path";
import { type EnvPolicy, type ProcessSpec, present } from "../../../protocol/index.ts";
import { ExecwireError, refuse } from "../../errors.ts";
import { toPathUri } from "../path-uri.ts";
import type { RemoteEnvironment } from "./answers.ts";

/** The size of every terminal in this dialect. */
const ROWS = 24;
const COLS = 80;
/** Arguments and variables of one start. The server accepts 262,144 JSON values in a message. */
const MAX_VALUES = 250_000;

/** The params to send, and the directory in which the process will run. */
export interface StartRequest {
  readonly params: Readonly<Record<string, unknown>>;
  readonly cwd: string;
}

/** Translates a checked spec. Throws UNSUPPORTED with `data.what`, INVALID_PARAMS or LIMIT_EXCEEDED. */
export function toStartRequest(
  spec: ProcessSpec,
  processId: string,
  environment: RemoteEnvironment | undefined,
): StartRequest {
  refuseUnsupported(spec);
  const { uri, path } = directory(spec.cwd, environment);
  const { argv, env = {}, envPolicy, arg0 } = spec;
  if (argv.length + Object.keys(env).length + Object.keys(envPolicy?.set ?? {}).length > MAX_VALUES) {
    const text = `more than ${MAX_VALUES} arguments and variables do not fit into one message to this server`;
    throw new ExecwireError("LIMIT_EXCEEDED", text, { data: { limit: "messageValues" } });
  }
  const params = present({
    processId,
    argv: [...argv],
    cwd: uri,
    env: { ...env },
    envPolicy: envPolicy ? wholePolicy(envPolicy) : null,
    tty: Boolean(spec.tty),
    pipeStdin: spec.pipeStdin ?? false,
    arg0: arg0 ?? null,
    metadata: metadataOf(env),
  });
  return { params, cwd: path };
}

/** The server takes a call id from metadata only, and then the thread id as well. */
function metadataOf({ CODEX_THREAD_ID: threadId, CODEX_TOOL_CALL_ID: toolCallId }: Readonly<Record<string, string>>) {
  return toolCallId === undefined ? undefined : present({ threadId, toolCallId });
}

function refuseUnsupported(spec: ProcessSpec): void {
  const { merge, timeoutMs, sandbox, networkProxy, shellSnapshot, inheritFds, onDetach, tty } = spec;
  if (merge) throw unsupported("merge");
  if (timeoutMs !== undefined) throw unsupported("timeoutMs");
  if (sandbox) throw unsupported("sandbox");
  if (networkProxy) throw unsupported("networkProxy");
  if (shellSnapshot) throw unsupported("shellSnapshot");
  if (inheritFds && inheritFds.length > 0) throw unsupported("inheritFds");
  if (onDetach === "keep") throw unsupported("onDetach");
  if (typeof tty !== "object") return;
  if ((tty.rows ?? ROWS) !== ROWS || (tty.cols ?? COLS) !== COLS) throw unsupported("tty size");
  if (tty.echo === false) throw unsupported("tty echo");
  if (tty.raw) throw unsupported("tty raw");
}

/** The error for a feature that the Codex protocol does not have. */
export function unsupported(what: string): ExecwireError {
  return new ExecwireError("UNSUPPORTED", `not supported by a Codex exec-server: ${what}`, { data: { what } });
}

function directory(cwd: string | undefined, environment: RemoteEnvironment | undefined): { uri: string; path: string } {
  if (cwd !== undefined) {
    if (!isAbsolute(cwd)) refuse({ field: "cwd", message: `must be an absolute path, got ${cwd}` });
    return { uri: toPathUri(cwd), path: cwd };
  }
  if (environment?.cwd) return environment.cwd;
  throw new ExecwireError("INVALID_PARAMS", "cwd is required: this server does not report its own working directory", {
    data: { field: "cwd" },
  });
}

/** The server requires all five fields; absent ones get our defaults. */
function wholePolicy({ inherit, ignoreDefaultExcludes, exclude, set, includeOnly }: EnvPolicy) {
  return {
    inherit,
    ignoreDefaultExcludes: ignoreDefaultExcludes ?? false,
    exclude: exclude ?? [],
    set: set ?? {},
    includeOnly: includeOnly ?? [],
  };
}
