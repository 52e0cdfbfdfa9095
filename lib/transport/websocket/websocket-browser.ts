// The platform's own WebSocket (every browser, Node from 22 on) as a transport.
import { closeReason, type OpenTransport, type Transport, type TransportHandlers } from "../transport.ts";

/** Opens `ws://` or `wss://` with a subprotocol. */
export function openPlatformWebSocket(url: string, subprotocol: string): OpenTransport {
  return () =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(url, subprotocol);
      socket.binaryType = "arraybuffer";
      const fail = () => reject(new Error(`no WebSocket at ${url}`));
      socket.addEventListener("error", fail, { once: true });
      socket.addEventListener(
        "open",
        () => {
          socket.removeEventListener("error", fail);
          resolve(platformTransport(socket));
        },
        { once: true },
      );
    });
}

function platformTransport(socket: WebSocket): Transport {
  let end: TransportHandlers["closed"] | undefined;
  const ended = (code: number, reason: string) => {
    end?.(code, reason);
    end = undefined;
  };
  return {
    listen({ frame, closed }: TransportHandlers) {
      end = closed;
      socket.addEventListener("message", ({ data }: { readonly data: unknown }) => {
        if (end) frame(data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array());
      });
      socket.addEventListener("close", ({ code, reason }) => ended(code, reason), { once: true });
    },
    send(bytes, sent) {
      socket.send(bytes as Uint8Array<ArrayBuffer>);
      // A browser does not report when bytes have left; the pending requests of a client are bounded anyway.
      sent?.();
    },
    close(code, reason) {
      // Browsers allow only 1000 and 3000 to 4999.
      socket.close(code === 1000 || code >= 3000 ? code : 4000, closeReason(reason));
    },
    terminate() {
      // A browser may wait a minute for the peer's part of the closing handshake; `terminate` must not.
      ended(1006, "");
      socket.close();
    },
  };
}
