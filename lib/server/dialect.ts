// Another language for the same processes and sessions, spoken on the same port with clients that do not offer ours.
import type { Transport } from "../transport/transport.ts";
import type { HttpAnswer, HttpRequest } from "../transport/websocket-server.ts";
import type { Auth } from "./auth.ts";
import type { ServedConnection, ServerContext } from "./server-context.ts";

/** What a server needs to know of it. */
export interface Dialect {
  /** A message at most, in bytes. */
  readonly messageBytes: number;
  /** Answers a request that is no upgrade. */
  answer(this: void, request: HttpRequest): HttpAnswer;
  /** Returns why an upgrade is refused; undefined accepts a client that has shown the token. */
  refuse(this: void, request: HttpRequest, auth: Auth): HttpAnswer | undefined;
  /** Serves a connection that was accepted. Calls `context.onOver` when it is over. */
  accept(transport: Transport, context: ServerContext): ServedConnection;
}
