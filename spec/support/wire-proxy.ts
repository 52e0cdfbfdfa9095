// A bad network between a client and a server: a TCP proxy that cuts connections, in the middle of a frame too, refuses
// new ones, or silently stops forwarding.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** `up` is from the client to the server, `down` the other way. */
export type Direction = "up" | "down";

/** Most bytes that Node reads at once. */
const FULL_READ = 64 * 1024;

/** A proxy on a port of 127.0.0.1. */
export class WireProxy {
  readonly #server: Server;
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  readonly #held = new Set<Direction>();
  #resumes: (() => void)[] = [];
  #admits = true;
  #nextCut: (() => number) | undefined;
  #bytesToCut = Number.POSITIVE_INFINITY;
  #chunksPerCut = Number.POSITIVE_INFINITY;
  #chunksToCut = Number.POSITIVE_INFINITY;
  /** Number of connections forwarded so far. */
  connections = 0;
  /** Number of cuts made by `cutAfter`. */
  cuts = 0;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.#port = port;
    server.on("connection", (near) => this.#forward(near));
  }

  /** A proxy for the server at `url`. */
  static async to(url: string): Promise<WireProxy> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new WireProxy(server, Number(new URL(url).port));
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Cuts every connection; new ones are forwarded. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Cuts every connection and each new one at once, until `admit`. */
  refuse(): void {
    this.#admits = false;
    this.cut();
  }

  admit(): void {
    this.#admits = true;
  }

  /** Silently stops forwarding, of existing and new connections. */
  hold(...directions: Direction[]): void {
    for (const direction of directions) this.#held.add(direction);
  }

  /** Forwards again, including what arrived meanwhile. */
  release(): void {
    this.#held.clear();
    for (const resume of this.#resumes.splice(0)) resume();
  }

  /** Cuts all connections again and again, each time after `next` bytes in both directions; undefined ends it. */
  cutAfter(next: (() => number) | undefined): void {
    this.#nextCut = next;
    this.#bytesToCut = next?.() ?? Number.POSITIVE_INFINITY;
  }

  /** Cuts all connections again and again, each time after about so many frames in both directions: a small frame is a chunk. */
  cutEvery(chunks: number): void {
    this.#chunksPerCut = chunks;
    this.#chunksToCut = chunks;
  }

  async close(): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, "close") : undefined;
    this.#server.close();
    this.refuse();
    await closed;
  }

  #forward(near: Socket): void {
    if (!this.#admits) {
      near.destroy();
      return;
    }
    this.connections += 1;
    const far = connect(this.#port, "127.0.0.1");
    this.#pass("up", near, far);
    this.#pass("down", far, near);
  }

  #pass(direction: Direction, from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.setNoDelay(true);
    from.on("error", () => undefined);
    from.on("close", () => {
      this.#sockets.delete(from);
      to.destroy();
    });
    const pass = (chunk: Buffer) => {
      if (this.#held.has(direction)) {
        from.pause();
        this.#resumes.push(() => {
          pass(chunk);
          from.resume();
        });
        return;
      }
      if (chunk.length >= this.#bytesToCut) {
        to.write(chunk.subarray(0, this.#bytesToCut), () => this.cut());
        this.cuts += 1;
        this.#bytesToCut = this.#nextCut?.() ?? Number.POSITIVE_INFINITY;
        from.pause();
        return;
      }
      this.#bytesToCut -= chunk.length;
      // A full read is a part of a larger frame, which must pass sooner or later.
      if (chunk.length < FULL_READ) this.#chunksToCut -= 1;
      if (this.#chunksToCut <= 0) {
        this.#chunksToCut = this.#chunksPerCut;
        this.cuts += 1;
        to.write(chunk, () => this.cut());
        from.pause();
        return;
      }
      if (to.write(chunk)) return;
      from.pause();
      to.once("drain", () => from.resume());
    };
    from.on("data", pass);
  }
}
