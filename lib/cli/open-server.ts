// Finds the server that a command is meant for, connects to it, and says what happens to the connection.
import { present } from "../../protocol/index.ts";
import type { RemoteBackend } from "../client/remote-backend.ts";
import { connect } from "../connect.ts";
import { ExecwireError } from "../errors.ts";
import type { ServerOptions } from "./options.ts";
import { NoServerError, note } from "./report.ts";
import { type RuntimeFile, readRuntimeFile } from "./runtime-directory.ts";
import { readTokenFile } from "./token-file.ts";

/** Where a server is and how to be let in. */
interface Found {
  readonly url: string;
  readonly token: string | undefined;
  /** It told of itself in the runtime directory: it is on this machine and ours. */
  readonly isLocal: boolean;
}

/** A connection for one command. */
export interface Opened {
  readonly backend: RemoteBackend;
  readonly isLocal: boolean;
}

const START_ONE = "start one with: execwire serve";

/** Connects. Rejects with NoServerError, UNAUTHORIZED, or whatever a wrong address or token file makes. */
export async function openServer(options: ServerOptions): Promise<Opened> {
  const { url, token, isLocal } = find(options);
  const recoveryMs = Math.ceil((options.recovery ?? 45) * 1000);
  const connecting = connect(url, present({ limits: { recoveryMs }, token }));
  const backend = await connecting.catch((error: unknown) => {
    if (!(error instanceof ExecwireError) || error.code !== "CONNECTION_LOST") throw error;
    throw new NoServerError(`no server at ${url}: ${error.message}; ${START_ONE}`, { cause: error });
  });
  narrate(backend);
  return { backend, isLocal };
}

/** Connects, acts, and disconnects whatever happens. */
export async function withServer<T>(options: ServerOptions, act: (backend: RemoteBackend) => Promise<T>): Promise<T> {
  const { backend } = await openServer(options);
  try {
    return await act(backend);
  } finally {
    await backend.close();
  }
}

function find(options: ServerOptions): Found {
  const { EXECWIRE_URL, EXECWIRE_TOKEN, EXECWIRE_TOKEN_FILE } = process.env;
  const named = options.url ?? (EXECWIRE_URL || undefined);
  const given = tokenOf(options.tokenFile) ?? (EXECWIRE_TOKEN || tokenOf(EXECWIRE_TOKEN_FILE || undefined));
  const local = named === undefined ? readRuntimeFile() : given === undefined ? localIfSafe() : undefined;
  const url = named ?? local?.url;
  if (url === undefined) throw new NoServerError(`no server was found; ${START_ONE}, or name one with --url`);
  // The token of the local server is for no other.
  const own = local?.url === url ? tokenOf(local.tokenFile) : undefined;
  return { url, token: given ?? own, isLocal: named === undefined };
}

/** For who named a server, the state of our directory is of no importance. */
function localIfSafe(): RuntimeFile | undefined {
  try {
    return readRuntimeFile();
  } catch {
    return undefined;
  }
}

function tokenOf(path: string | undefined): string | undefined {
  return path === undefined ? undefined : readTokenFile(path);
}

function narrate({ link }: RemoteBackend): void {
  let wasLost = false;
  link.state$.subscribe((state) => {
    if (state === "recovering") note("the connection is lost, trying to come back (three times Ctrl-C gives up)");
    if (state === "connected" && wasLost) note("connected again");
    wasLost = state === "recovering";
  });
}
