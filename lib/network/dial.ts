// Connects to the checked addresses of a host, and joins two connections.
import { connect, isIP, type Socket } from "node:net";

/** One host, all of whose addresses are tried: long enough for a slow network, shorter than programs wait. */
const DIAL_MS = 30_000;

/** Connects to the first address that answers; rejects with the last error. Stops when the signal aborts. */
export async function dial(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket> {
  let last: unknown = new Error("no address");
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(DIAL_MS)]);
  for (const address of addresses) {
    try {
      return await connectTo(address, port, deadline);
    } catch (error) {
      last = error;
      if (deadline.aborted) break;
    }
  }
  throw last;
}

/** Passes on bytes and ends in both directions; when one side fails or closes, so does the other. */
export function join(one: Socket, other: Socket): void {
  one.on("error", () => other.destroy());
  other.on("error", () => one.destroy());
  one.on("close", () => other.destroy());
  other.on("close", () => one.destroy());
  one.pipe(other);
  other.pipe(one);
}

function connectTo(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const socket = connect({ host: address, port, family: isIP(address), allowHalfOpen: true, noDelay: true });
    const stop = () => socket.destroy(signal.reason instanceof Error ? signal.reason : new Error("stopped"));
    signal.addEventListener("abort", stop);
    socket.once("connect", () => {
      signal.removeEventListener("abort", stop);
      socket.removeListener("error", reject);
      resolve(socket);
    });
    socket.once("error", reject);
    socket.once("close", () => signal.removeEventListener("abort", stop));
  });
}
