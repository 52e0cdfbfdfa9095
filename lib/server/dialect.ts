// Another protocol for the same processes, on the same port, for clients that do not offer our subprotocol.
import type { Transport } from "../transport/transport.ts";
import type { HttpAnswer, HttpRequest } from "../transport/websocket/websocket-server.ts";
import type { Auth } from "./auth.ts";
import type { ServedConnection, ServerContext } from "./server-context.ts";

/** A dialect as the server uses it. */
export interface Dialect {
  /** Limit on the bytes of a message. */
  readonly messageBytes: number;
  /** Answers an HTTP request that is not an upgrade. */
  answer(this: void, request: HttpRequest): HttpAnswer;
  /** Returns why an upgrade is refused; undefined accepts it. */
  refuse(this: void, request: HttpRequest, auth: Auth): HttpAnswer | undefined;
  /** Serves an accepted connection. Calls `context.onOver` when the connection ends. */
  accept(transport: Transport, context: ServerContext): ServedConnection;
}
