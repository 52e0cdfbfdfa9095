// Opens WebSockets from Node: TCP, TLS and unix sockets. Node only.
import { WebSocket } from "ws";
import type { OpenTransport } from "./transport.ts";
import { webSocketTransport } from "./websocket-node.ts";

/** Bounds of a connection being opened. */
export interface OpenLimits {
  readonly frameBytes: number;
  /** A peer that has not shaken hands by then is left, and its socket with it. */
  readonly handshakeMs: number;
}

/** A way to open `ws://`, `wss://` or `unix:PATH` with a subprotocol. */
export function openWebSocket(
  url: string,
  subprotocol: string,
  { frameBytes, handshakeMs }: OpenLimits,
): OpenTransport {
  const address = url.startsWith("unix:") ? `ws+unix:${url.slice("unix:".length)}:/` : url;
  return () =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(address, subprotocol, {
        perMessageDeflate: false,
        maxPayload: frameBytes,
        handshakeTimeout: handshakeMs,
      });
      socket.once("error", reject);
      socket.once("open", () => {
        socket.off("error", reject);
        resolve(webSocketTransport(socket));
      });
    });
}
