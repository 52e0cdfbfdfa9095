// A WebSocket of the platform (every browser, Node from 22 on) as a transport.
import type { OpenTransport, Transport, TransportHandlers } from "./transport.ts";

/** How often to look whether the socket's buffer is empty: browsers tell it in no other way. */
const LOOK_MS = 20;

/** A way to open `ws://` or `wss://` with a subprotocol. */
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
  const unsent: (() => void)[] = [];
  const look = () => {
    if (socket.bufferedAmount > 0 && socket.readyState === WebSocket.OPEN) {
      setTimeout(look, LOOK_MS);
      return;
    }
    for (const sent of unsent.splice(0)) sent();
  };
  return {
    listen({ frame, closed }: TransportHandlers) {
      socket.addEventListener("message", ({ data }: { readonly data: unknown }) => {
        frame(data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array());
      });
      socket.addEventListener("close", ({ code, reason }) => closed(code, reason), { once: true });
    },
    send(bytes, sent) {
      socket.send(bytes as Uint8Array<ArrayBuffer>);
      if (!sent) return;
      unsent.push(sent);
      if (unsent.length === 1) queueMicrotask(look);
    },
    close(code, reason) {
      // Browsers allow 1000 and 3000 to 4999 only.
      socket.close(code === 1000 || code >= 3000 ? code : 4000, reason);
    },
    terminate() {
      socket.close();
    },
  };
}
