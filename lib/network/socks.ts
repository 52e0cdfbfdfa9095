// The SOCKS 5 side of a proxy (RFC 1928): connections by name or address, without a login. No BIND and no UDP.
import type { Socket } from "node:net";
import { dial, join } from "./dial.ts";
import type { Judge } from "./judge.ts";

/** The first byte of a connection. */
export const SOCKS_VERSION = 5;

/** How long a program may take for its part of the handshake. */
const HANDSHAKE_MS = 20_000;

const NO_LOGIN = 0;
const NO_METHOD = 0xff;
const CONNECT = 1;
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;

const REPLIES = {
  succeeded: 0,
  notAllowed: 2,
  unreachable: 4,
  refused: 5,
  commandUnknown: 7,
  addressUnknown: 8,
} as const;

/** Serves one connection to its end. Rejects if it ends early; the caller destroys it. */
export async function serveSocks(judge: Judge, socket: Socket): Promise<void> {
  const gone = new AbortController();
  socket.on("close", () => gone.abort());
  const tooSlow = setTimeout(() => socket.destroy(), HANDSHAKE_MS);
  socket.on("close", () => clearTimeout(tooSlow));
  const [, methods = 0] = await read(socket, 2);
  if (!(await read(socket, methods)).includes(NO_LOGIN))
    return void socket.end(Buffer.from([SOCKS_VERSION, NO_METHOD]));
  socket.write(Buffer.from([SOCKS_VERSION, NO_LOGIN]));
  const [version, command, , kind = 0] = await read(socket, 4);
  const host = await readHost(socket, kind);
  if (host === undefined || version !== SOCKS_VERSION) return void socket.end(reply("addressUnknown"));
  const port = (await read(socket, 2)).readUInt16BE();
  clearTimeout(tooSlow);
  if (command !== CONNECT) return void socket.end(reply("commandUnknown"));
  const verdict = await judge.judge({ protocol: "socks5", host, port }, gone.signal);
  if (!verdict.isAllowed) return void socket.end(reply("notAllowed"));
  const upstream = await dial(verdict.addresses, port, gone.signal).catch((error: NodeJS.ErrnoException) => error);
  if (upstream instanceof Error)
    return void socket.end(reply(upstream.code === "ECONNREFUSED" ? "refused" : "unreachable"));
  socket.write(reply("succeeded"));
  join(socket, upstream);
}

async function readHost(socket: Socket, kind: number): Promise<string | undefined> {
  if (kind === IPV4) return (await read(socket, 4)).join(".");
  if (kind === NAME) {
    const [length = 0] = await read(socket, 1);
    return (await read(socket, length)).toString("latin1");
  }
  if (kind !== IPV6) return undefined;
  const bytes = await read(socket, 16);
  return Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16)).join(":");
}

/** Exactly so many bytes; what follows stays in the socket. Rejects at the end. */
function read(socket: Socket, bytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const attempt = () => {
      const chunk: Buffer | null = bytes === 0 ? Buffer.alloc(0) : socket.read(bytes);
      if (chunk !== null && chunk.length === bytes) settle(() => resolve(chunk));
      else if (chunk !== null || socket.readableEnded || socket.destroyed) onEnd();
    };
    const onEnd = () => settle(() => reject(new Error("the connection ended during the handshake")));
    const settle = (then: () => void) => {
      socket.removeListener("readable", attempt);
      socket.removeListener("end", onEnd);
      socket.removeListener("close", onEnd);
      then();
    };
    socket.on("readable", attempt);
    socket.on("end", onEnd);
    socket.on("close", onEnd);
    attempt();
  });
}

function reply(name: keyof typeof REPLIES): Buffer {
  return Buffer.from([SOCKS_VERSION, REPLIES[name], 0, IPV4, 0, 0, 0, 0, 0, 0]);
}
