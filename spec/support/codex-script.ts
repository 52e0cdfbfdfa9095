// A scripted Codex exec-server: the spec decides what each connection receives.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import type { StreamName } from "../../protocol/index.ts";

/** A message of a client. */
export interface Sent {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** A queue of items, and of waiters for the next item. */
class Arrivals<T> {
  readonly #items: T[] = [];
  readonly #wakes = new Set<() => void>();
  #taken = 0;

  get all(): readonly T[] {
    return this.#items;
  }

  add(item: T): void {
    this.#items.push(item);
    for (const wake of [...this.#wakes]) wake();
  }

  /** The next item that matches; earlier ones are skipped. */
  async next(fits: (item: T) => boolean = () => true): Promise<T> {
    for (;;) {
      while (this.#taken < this.#items.length) {
        const item = this.#items[this.#taken] as T;
        this.#taken += 1;
        if (fits(item)) return item;
      }
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#wakes.delete(wake);
          resolve();
        };
        this.#wakes.add(wake);
      });
    }
  }
}

/** A server on a port of 127.0.0.1. */
export class CodexScript {
  readonly #server: WebSocketServer;
  readonly #connections = new Arrivals<CodexScriptConnection>();

  private constructor(server: WebSocketServer) {
    this.#server = server;
    server.on("connection", (socket) => this.#connections.add(new CodexScriptConnection(socket)));
  }

  static async listen(): Promise<CodexScript> {
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0, maxPayload: 0 });
    await once(server, "listening");
    return new CodexScript(server);
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The next connection that a client makes. */
  connection(): Promise<CodexScriptConnection> {
    return this.#connections.next();
  }

  /** The same, with its handshake done. */
  async welcome(): Promise<CodexScriptConnection> {
    const connection = await this.connection();
    await connection.welcome();
    return connection;
  }

  async close(): Promise<void> {
    for (const { socket } of this.#connections.all) socket.terminate();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** The server's end of one connection. */
export class CodexScriptConnection {
  readonly socket: WebSocket;
  readonly #calls = new Arrivals<Sent>();
  readonly #answers = new Arrivals<Sent>();
  #lastId = 0;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data: Buffer) => {
      const sent: Sent = JSON.parse(data.toString());
      (sent.method === undefined ? this.#answers : this.#calls).add(sent);
    });
  }

  /** Methods that the client called, without the handshake. */
  get methods(): string[] {
    return this.#calls.all.flatMap(({ method }) => (method && !method.startsWith("initialize") ? [method] : []));
  }

  /** The next call of that method; earlier ones are skipped. */
  next(method: string): Promise<Sent> {
    return this.#calls.next((sent) => sent.method === method);
  }

  say(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Waits for a call, answers it and returns it. */
  async answer(method: string, result: object): Promise<Sent> {
    const call = await this.next(method);
    this.say({ id: call.id, result });
    return call;
  }

  async refuse(method: string, code: number, message: string, data?: object): Promise<Sent> {
    const call = await this.next(method);
    this.say({ error: { code, message, ...(data && { data }) }, id: call.id });
    return call;
  }

  async welcome(sessionId = "the session"): Promise<Sent> {
    const environmentInfo = { shell: { name: "sh", path: "/bin/sh" }, cwd: "file:///home/of%20it" };
    const call = await this.answer("initialize", { sessionId, environmentInfo });
    await this.next("initialized");
    return call;
  }

  output(seq: number, text: string, stream: StreamName = "stdout", processId = "p"): void {
    const chunk = Buffer.from(text).toString("base64");
    this.say({ method: "process/output", params: { processId, seq, stream, chunk } });
  }

  exited(seq: number, exitCode = 0, processId = "p"): void {
    this.say({ method: "process/exited", params: { processId, seq, exitCode, sandboxDenied: false } });
  }

  closed(seq: number, processId = "p"): void {
    this.say({ method: "process/closed", params: { processId, seq } });
  }

  /** Waits until the client has handled everything sent so far: until it refuses an unknown request. */
  async taken(): Promise<void> {
    this.#lastId += 1;
    const id = this.#lastId;
    this.say({ id, method: "spec/taken", params: {} });
    await this.#answers.next((sent) => sent.id === id);
  }

  /** Cuts the connection without a close frame, like the exec-server. */
  cut(): void {
    this.socket.terminate();
  }
}

/** A reply to `process/read`. */
export function readAnswer(
  nextSeq: number,
  chunks: readonly [seq: number, text: string][],
  facts: object = {},
): object {
  return {
    chunks: chunks.map(([seq, text]) => ({ seq, stream: "stdout", chunk: Buffer.from(text).toString("base64") })),
    nextSeq,
    exited: false,
    exitCode: null,
    closed: false,
    failure: null,
    sandboxDenied: false,
    ...facts,
  };
}
