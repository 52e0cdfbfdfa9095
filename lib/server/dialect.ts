// Another language for the same processes and sessions, spoken on the same port with clients that do not offer ours.
import type { Transport } from "../transport/transport.ts";
import type { ServedConnection, ServerParts } from "./parts.ts";

/** What a server needs to know of it. */
export interface Dialect {
  /** A message at most, in bytes. */
  readonly messageBytes: number;
  /** Serves a connection whose peer has shown the token; tells `parts.onOver` when it is over. */
  accept(transport: Transport, parts: ServerParts): ServedConnection;
}
