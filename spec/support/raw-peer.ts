// A WebSocket client of raw bytes: it sends what no library would, such as half a frame, and shows how a server reacts.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { SUBPROTOCOL } from "../../protocol/index.ts";

/** Opcodes of frames. */
export const OPCODE = { more: 0x00, text: 0x01, binary: 0x02, pong: 0x0a } as const;

/** The head of a masked frame that announces so many bytes; its mask is zero. */
export function frameHead(bytes: number, { opcode = OPCODE.binary as number, fin = true } = {}): Buffer {
  const first = (fin ? 0x80 : 0) | opcode;
  if (bytes < 126) return Buffer.from([first, 0x80 | bytes, 0, 0, 0, 0]);
  const head = Buffer.alloc(14);
  head.set([first, 0xff]);
  head.writeUInt32BE(Math.floor(bytes / 2 ** 32), 2);
  head.writeUInt32BE(bytes >>> 0, 6);
  return head;
}

/** One connection, from its first byte. */
export class RawPeer {
  readonly socket: Socket;
  /** Resolves when the connection has ended, with the code of the server's close frame, if it sent one. */
  readonly over: Promise<number | undefined>;
  #received = Buffer.alloc(0);

  private constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    this.socket.on("error", () => undefined);
    this.socket.on("data", (piece: Buffer) => {
      this.#received = Buffer.concat([this.#received, piece]);
    });
    this.over = new Promise((resolve) => {
      const settle = () => resolve(this.#closeCode());
      this.socket.once("end", settle).once("close", settle);
    });
  }

  /** Connects and sends nothing. */
  static async open(url: string): Promise<RawPeer> {
    const peer = new RawPeer(url);
    await once(peer.socket, "connect");
    return peer;
  }

  /** Connects and completes the handshake; offers no subprotocol if that is undefined. */
  static async upgrade(url: string, headers: Readonly<Record<string, string>> = {}, native = true): Promise<RawPeer> {
    const peer = await RawPeer.open(url);
    const all = {
      Host: "x",
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
      ...(native && { "Sec-WebSocket-Protocol": SUBPROTOCOL }),
      ...headers,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    peer.socket.write(`GET / HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
    while (!peer.#received.includes("\r\n\r\n")) await once(peer.socket, "data");
    peer.#received = peer.#received.subarray(peer.#received.indexOf("\r\n\r\n") + 4);
    return peer;
  }

  /** Sends a frame. */
  frame(payload: Uint8Array, options: { readonly opcode?: number; readonly fin?: boolean } = {}): void {
    this.socket.write(Buffer.concat([frameHead(payload.length, options), payload]));
  }

  /** Resolves when the server has sent something since the handshake. */
  async answered(): Promise<void> {
    while (this.#received.length === 0) await once(this.socket, "data");
  }

  /** Earlier frames are skipped; none has 64 KiB. */
  #closeCode(): number | undefined {
    const bytes = this.#received;
    for (let at = 0; at + 4 <= bytes.length; ) {
      if (((bytes[at] as number) & 0x0f) === 0x08) return bytes.readUInt16BE(at + 2);
      const length = bytes[at + 1] as number;
      at += length < 126 ? 2 + length : 4 + bytes.readUInt16BE(at + 2);
    }
    return undefined;
  }
}
