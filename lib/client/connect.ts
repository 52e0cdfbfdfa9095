// Connects to a server over any transport.
import { withDefaults } from "../limits.ts";
import type { OpenTransport } from "../transport/transport.ts";
import type { ClientOptions } from "./client-options.ts";
import { RemoteBackend } from "./remote-backend.ts";

/**
 * Opens a connection and resolves with a backend after the server's welcome. Rejects with UNAUTHORIZED,
 * VERSION_UNSUPPORTED, or CONNECTION_LOST when no server answers. Later the link reconnects by itself.
 */
export async function connectOver(open: OpenTransport, options: ClientOptions = {}): Promise<RemoteBackend> {
  const backend = new RemoteBackend(open, { ...options, limits: withDefaults(options.limits) });
  await backend.link.ready;
  return backend;
}
