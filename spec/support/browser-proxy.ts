// A TCP proxy in front of a server that can reset its connections, and refuse new ones.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy. */
export interface CuttableProxy {
  /** The server's WebSocket address through the proxy. */
  readonly url: string;
  /** Resets every connection. */
  cut(): void;
  /** Resets every connection and each new one, until undone. */
  block(): () => void;
  close(): Promise<void>;
}

/** Starts a proxy in front of `ws://HOST:PORT`. */
export async function proxyTo(target: string): Promise<CuttableProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let blocked = false;
  const keep = (socket: Socket, peer: () => Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      peer().destroy();
    });
  };
  const server = createServer((near) => {
    if (blocked) {
      near.destroy();
      return;
    }
    const far = connect(Number(port), hostname);
    keep(near, () => far);
    keep(far, () => near);
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    block() {
      blocked = true;
      cut();
      return () => {
        blocked = false;
      };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}
