// The client for web pages and other platforms with a global WebSocket. Must not import Node modules.
import { SUBPROTOCOL } from "../protocol/index.ts";
import { connectOver } from "./client/connect.ts";
import type { ClientOptions, RemoteBackend } from "./client/remote-backend.ts";
import { openPlatformWebSocket } from "./transport/websocket/websocket-browser.ts";

export { RemoteBackend } from "./client/remote-backend.ts";
export { ExecwireError } from "./errors.ts";
export { lines } from "./process/lines.ts";
export { Process } from "./process/process.ts";
export { text } from "./process/text.ts";

/** Connects to `ws://` or `wss://`; the token travels in the first message, not in the URL. See `connect` of the Node entry. */
export function connect(url: string, options: ClientOptions = {}): Promise<RemoteBackend> {
  return connectOver(openPlatformWebSocket(url, SUBPROTOCOL), options);
}
