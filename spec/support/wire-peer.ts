// The other end of a transport, controlled by a spec: it decodes and keeps what arrives, and the spec decides what it sends.
import type { Transport } from "../../lib/transport/transport.ts";
import { type ClientMessage, decode, encode, PROTOCOL_VERSION, type ServerMessage } from "../../protocol/index.ts";

/** A decoded message. */
export type Message = Readonly<Record<string, unknown>> & { readonly type: string };

/** How a connection ended. */
export interface Closing {
  readonly code: number;
  readonly reason: string;
}

/** One end of a connection, as a client or as a server. */
export class WirePeer {
  readonly transport: Transport;
  /** All messages that arrived. */
  readonly received: Message[] = [];
  /** Resolves when the connection ends. */
  readonly closed: Promise<Closing>;
  /** The end, once the connection has ended. */
  closing: Closing | undefined;
  /** Whether it answers pings, as a peer must. */
  answersPings = true;
  readonly #onMessage = new Set<() => void>();
  #looked = 0;

  constructor(transport: Transport) {
    this.transport = transport;
    this.closed = new Promise((resolve) => {
      transport.listen({
        frame: (frame) => {
          const message = decode(Uint8Array.from(frame)) as Message;
          this.received.push(message);
          if (message.type === "ping" && this.answersPings) this.say({ type: "pong" });
          for (const wake of this.#onMessage) wake();
        },
        closed: (code, reason) => {
          this.closing = { code, reason };
          resolve(this.closing);
          for (const wake of this.#onMessage) wake();
        },
      });
    });
  }

  say(message: ClientMessage | ServerMessage): void {
    this.transport.send(encode(message));
  }

  sendBytes(frame: Uint8Array): void {
    this.transport.send(frame);
  }

  hello(token?: string, more: object = {}): void {
    this.say({ type: "hello", version: PROTOCOL_VERSION, ...(token !== undefined && { token }), ...more });
  }

  request(id: number, method: string, params: object = {}, acked: readonly number[] = []): void {
    this.say({ type: "request", id, acked, method, params } as ClientMessage);
  }

  /** The next message of that type that was not returned yet; earlier ones are skipped. */
  async next(type: string): Promise<Message> {
    for (;;) {
      for (; this.#looked < this.received.length; ) {
        const message = this.received[this.#looked] as Message;
        this.#looked += 1;
        if (message.type === type) return message;
      }
      if (this.closing) throw new Error(`no ${type} came before the end: ${JSON.stringify(this.closing)}`);
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#onMessage.delete(wake);
          resolve();
        };
        this.#onMessage.add(wake);
      });
    }
  }

  /** The first reply to a request, also one that was skipped. */
  async reply(id: number): Promise<Message> {
    for (;;) {
      const reply = this.of("reply").find((message) => message.id === id);
      if (reply) return reply;
      await this.next("reply");
    }
  }

  /** The messages of a type that have arrived so far. */
  of(type: string): Message[] {
    return this.received.filter((message) => message.type === type);
  }
}
