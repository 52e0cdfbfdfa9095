// Finds the server for a command, connects to it, and reports when the connection is lost and restored.
import { present } from "../../../protocol/index.ts";
import type { RemoteBackend } from "../../client/remote-backend.ts";
import { connect } from "../../connect.ts";
import { ExecwireError } from "../../errors.ts";
import { parseServerUrl, type ServerOptions } from "../options.ts";
import { NoServerError, note, UsageError } from "../report.ts";
import { type RuntimeFile, readRuntimeFile, runtimeDirectories } from "./runtime-directory.ts";
import { readTokenFile } from "./token-file.ts";

/** A server's address and token. */
interface ServerAddress {
  readonly url: string;
  readonly token: string | undefined;
  /** Found in the runtime directory: the server runs on this machine as the same user. */
  readonly isLocal: boolean;
}

/** A connection for one command. */
export interface ServerConnection {
  readonly backend: RemoteBackend;
  readonly isLocal: boolean;
}

const START_HINT = "start one with: execwire serve";

/** Connects. Rejects with NoServerError, UNAUTHORIZED, or the error of a bad address or token file. */
export async function openServer(options: ServerOptions): Promise<ServerConnection> {
  const { url, token, isLocal } = findServer(options);
  const recoveryMs = Math.ceil((options.recovery ?? 45) * 1000);
  const connecting = connect(url, present({ limits: { recoveryMs }, token }));
  const backend = await connecting.catch((error: unknown) => {
    if (!(error instanceof ExecwireError) || error.code !== "CONNECTION_LOST") throw error;
    throw new NoServerError(`no server at ${url}: ${error.message}; ${START_HINT}`, { cause: error });
  });
  logLinkState(backend);
  return { backend, isLocal };
}

/** Connects, calls `act`, and disconnects, also after an error. */
export async function withServer<T>(options: ServerOptions, act: (backend: RemoteBackend) => Promise<T>): Promise<T> {
  const { backend } = await openServer(options);
  try {
    return await act(backend);
  } finally {
    await backend.close();
  }
}

function findServer(options: ServerOptions): ServerAddress {
  const { EXECWIRE_URL, EXECWIRE_TOKEN, EXECWIRE_TOKEN_FILE } = process.env;
  const givenUrl = options.url ?? (EXECWIRE_URL ? urlOfVariable(EXECWIRE_URL) : undefined);
  const givenToken = tokenOf(options.tokenFile) ?? (EXECWIRE_TOKEN || tokenOf(EXECWIRE_TOKEN_FILE || undefined));
  const local = givenUrl === undefined ? readRuntimeFile() : givenToken === undefined ? localIfSafe() : undefined;
  const url = givenUrl ?? local?.url;
  if (url === undefined) {
    const places = runtimeDirectories().join(" or ");
    throw new NoServerError(`no server was found in ${places}; ${START_HINT}, or name one with --url`);
  }
  // Never send the token of the local server to another server.
  const localToken = local?.url === url ? tokenOf(local.tokenFile) : undefined;
  return { url, token: givenToken ?? localToken, isLocal: givenUrl === undefined };
}

function urlOfVariable(url: string): string {
  try {
    return parseServerUrl(url);
  } catch (error) {
    throw new UsageError(`EXECWIRE_URL is ${url}. ${(error as Error).message}`);
  }
}

/** With an explicit URL, an unsafe runtime directory is no reason to fail. */
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

function logLinkState({ link }: RemoteBackend): void {
  let wasLost = false;
  link.state$.subscribe((state) => {
    if (state === "recovering") note("connection lost, reconnecting (press Ctrl-C three times to give up)");
    if (state === "connected" && wasLost) note("reconnected");
    wasLost = state === "recovering";
  });
}
