// Connects to a server over any transport.
import { withDefaults } from "../limits.ts";
import type { OpenTransport } from "../transport/transport.ts";
import { type ClientOptions, RemoteBackend } from "./remote-backend.ts";

/**
 * Opens a connection and resolves with a backend once the server has let us in. Rejects with UNAUTHORIZED,
 * VERSION_UNSUPPORTED, or CONNECTION_LOST when there is nobody. Afterwards the link comes back by itself.
 */
export async function connectOver(open: OpenTransport, options: ClientOptions = {}): Promise<RemoteBackend> {
  const backend = new RemoteBackend(open, { ...options, limits: withDefaults(options.limits) });
  await backend.link.ready;
  return backend;
}
