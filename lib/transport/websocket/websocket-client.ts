// Opens WebSockets from Node: TCP, TLS and unix sockets. Node only.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { ExecwireError } from "../../errors.ts";
import type { OpenTransport, Transport } from "../transport.ts";
import { webSocketTransport } from "./websocket-node.ts";

/** Bounds of a connection being opened. */
export interface OpenLimits {
  readonly frameBytes: number;
  /** The connection attempt fails, and its socket is closed, if the handshake takes longer. */
  readonly handshakeMs: number;
}

/** A connection of text messages that can be paused. */
export interface TextTransport extends Transport {
  /** Stops reading, even the end of the connection, so that the peer has to stop sending too. */
  pause(): void;
  resume(): void;
}

/** Text that a header can carry unchanged. */
const HEADER_TEXT = /^[\x20-\x7e]*$/;

/**
 * Opens `ws://`, `wss://` or `unix:PATH` with a subprotocol. The token goes with the upgrade request if a header can carry it: a
 * crowded server then knows at once that this client may enter.
 */
export function openWebSocket(url: string, subprotocol: string, bounds: OpenLimits, token?: string): OpenTransport {
  const headers = token !== undefined && HEADER_TEXT.test(token) ? bearer(token) : {};
  return async () => {
    const { socket, stream } = await openSocket(url, [subprotocol], headers, bounds);
    return webSocketTransport(socket, stream, "binary");
  };
}

/** The same for servers that use text, have no subprotocol and expect a token as `Authorization: Bearer`. */
export function openTextSocket(
  url: string,
  token: string | undefined,
  bounds: OpenLimits,
): () => Promise<TextTransport> {
  const headers = token === undefined ? {} : bearer(token);
  return async () => {
    const { socket, stream } = await openSocket(url, [], headers, bounds);
    const transport = webSocketTransport(socket, stream, "text");
    return Object.assign(transport, { pause: () => socket.pause(), resume: () => socket.resume() });
  };
}

function bearer(token: string): Readonly<Record<string, string>> {
  return { Authorization: `Bearer ${token}` };
}

function openSocket(
  url: string,
  subprotocols: string[],
  headers: Readonly<Record<string, string>>,
  { frameBytes, handshakeMs }: OpenLimits,
): Promise<{ readonly socket: WebSocket; readonly stream: Duplex | undefined }> {
  const address = url.startsWith("unix:") ? `ws+unix:${url.slice("unix:".length)}:/` : url;
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address, subprotocols, {
      headers,
      perMessageDeflate: false,
      maxPayload: frameBytes,
      handshakeTimeout: handshakeMs,
    });
    let stream: Duplex | undefined;
    socket.once("error", reject);
    socket.once("upgrade", (response) => {
      stream = response.socket;
    });
    socket.once("unexpected-response", (_request, response) => {
      reject(refusalOf(response));
      socket.terminate();
    });
    socket.once("open", () => {
      socket.off("error", reject);
      resolve({ socket, stream });
    });
  });
}

/** A server that requires a token refuses the upgrade with 401. */
function refusalOf({ statusCode, statusMessage }: IncomingMessage): Error {
  const answer = `the server answered ${statusCode} ${statusMessage}`;
  return statusCode === 401 ? new ExecwireError("UNAUTHORIZED", answer) : new Error(answer);
}
