// A client of the Codex protocol that hides nothing: it keeps what arrives in order, and the spec decides what it sends.
import { once } from "node:events";
import { pathToFileURL } from "node:url";
import { WebSocket } from "ws";

/** A reply: a result or an error. */
export interface CodexReply {
  readonly id: number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A notification of a process. */
export interface CodexPush {
  readonly method: string;
  readonly params: {
    readonly processId: string;
    readonly seq: number;
    readonly stream?: string;
    readonly chunk?: string;
    readonly exitCode?: number;
  };
}

/** The result of `process/read`. */
export interface CodexRead {
  readonly chunks: readonly { readonly seq: number; readonly stream: string; readonly chunk: string }[];
  readonly nextSeq: number;
  readonly exited: boolean;
  readonly exitCode: number | null;
  readonly closed: boolean;
}

/** One connection of the Codex protocol. */
export class CodexPeer {
  readonly socket: WebSocket;
  /** Everything that arrived, including replies. */
  readonly received: (CodexReply | CodexPush)[] = [];
  /** Size of the largest message in bytes. */
  largest = 0;
  readonly #wakes = new Set<() => void>();
  #lastId = 0;
  #sessionId = "";

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("error", () => undefined);
    socket.on("message", (data: Buffer) => {
      this.largest = Math.max(this.largest, data.length);
      this.received.push(JSON.parse(data.toString()));
      for (const wake of this.#wakes) wake();
    });
  }

  /** Connects, without a handshake. */
  static async open(url: string, token: string): Promise<CodexPeer> {
    const headers = { Authorization: `Bearer ${token}` };
    const socket = new WebSocket(url, { headers, perMessageDeflate: false, maxPayload: 0 });
    await once(socket, "open");
    return new CodexPeer(socket);
  }

  /** Connects and completes the handshake; throws the code and message of a refusal. */
  static async connect(url: string, token: string, resumeSessionId?: string): Promise<CodexPeer> {
    const peer = await CodexPeer.open(url, token);
    const reply = await peer.call("initialize", { clientName: "spec", resumeSessionId: resumeSessionId ?? null });
    if (reply.error) {
      peer.socket.terminate();
      throw Object.assign(new Error(reply.error.message), { code: reply.error.code });
    }
    peer.#sessionId = String(reply.result?.sessionId);
    peer.send({ method: "initialized", params: {} });
    return peer;
  }

  get sessionId(): string {
    return this.#sessionId;
  }

  send(message: unknown): void {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** Sends a request without waiting for its reply. */
  ask(method: string, params?: unknown): number {
    this.#lastId += 1;
    this.send({ id: this.#lastId, method, params });
    return this.#lastId;
  }

  async call(method: string, params?: unknown): Promise<CodexReply> {
    return this.reply(this.ask(method, params));
  }

  reply(id: number): Promise<CodexReply> {
    return this.until(() =>
      this.received.find(
        (message): message is CodexReply => "id" in message && !("method" in message) && message.id === id,
      ),
    );
  }

  /** Starts a shell script. */
  start(processId: string, script: string, more: object = {}): Promise<CodexReply> {
    return this.call("process/start", startParams(processId, script, more));
  }

  async read(processId: string, afterSeq: number, more: object = {}): Promise<CodexRead> {
    const { result } = await this.call("process/read", { processId, afterSeq, ...more });
    return result as unknown as CodexRead;
  }

  /** The notifications of a process so far. */
  pushesOf(processId: string): CodexPush[] {
    return this.received.filter(
      (message): message is CodexPush => "method" in message && message.params.processId === processId,
    );
  }

  /** Waits for the end of a process. */
  closed(processId: string): Promise<CodexPush> {
    return this.until(() => this.pushesOf(processId).find(({ method }) => method === "process/closed"));
  }

  /** The output of a process from its notifications so far. */
  textOf(processId: string): string {
    return Buffer.concat(
      this.pushesOf(processId).map(({ params }) => Buffer.from(params.chunk ?? "", "base64")),
    ).toString();
  }

  /** The first value that `look` finds, now or after a message. */
  until<T>(look: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = () => {
        const found = look();
        if (found === undefined) return;
        this.#wakes.delete(check);
        this.socket.off("close", lost);
        resolve(found);
      };
      const lost = (code: number) => reject(new Error(`the connection ended: ${code}`));
      this.#wakes.add(check);
      this.socket.once("close", lost);
      check();
    });
  }

  /** Cuts the connection without a close frame. */
  async cut(): Promise<void> {
    const closed = once(this.socket, "close");
    this.socket.terminate();
    await closed;
  }
}

/** The params of a start in the root directory, with only PATH in its environment. */
export function startParams(processId: string, script: string, more: object = {}): object {
  const cwd = pathToFileURL("/").href;
  return { processId, argv: ["/bin/sh", "-c", script], cwd, env: { PATH: "/usr/bin:/bin" }, tty: false, ...more };
}
