// What transports over a pair of byte streams have in common: how they begin and how they end. Node only.
import type { Readable, Writable } from "node:stream";
import { type Inflow, ReadTurns } from "./read-turns.ts";
import { CLOSE, CLOSE_MS, type Transport, type TransportHandlers } from "./transport.ts";

/** Frames over what is read from `input` and written to `output`; how they are told apart is for the subclass. */
export abstract class StreamPair implements Transport {
  protected readonly input: Readable;
  protected readonly output: Writable;
  protected isClosed = false;
  #handlers: TransportHandlers | undefined;
  #closing: NodeJS.Timeout | undefined;
  #inflow: Inflow | undefined;

  constructor(input: Readable, output: Writable) {
    this.input = input;
    this.output = output;
  }

  listen(handlers: TransportHandlers): void {
    this.#handlers = handlers;
    this.#inflow = new ReadTurns().open(this.input);
    this.input.on("data", (chunk: Buffer) => {
      if (!this.isClosed) this.receive(chunk);
    });
    this.input.once("end", () => {
      this.inputEnded();
      this.end(1006, "the stream ended");
    });
    this.input.once("close", () => this.end(1006, "the stream ended"));
    this.input.on("error", () => undefined);
    this.output.on("error", () => this.end(1006, "the stream cannot be written"));
  }

  send(frame: Uint8Array, sent?: () => void): void {
    // What is not sent makes no room for more.
    if (!this.isClosed) this.write(frame, () => sent?.());
  }

  pause(): void {
    this.#inflow?.pause();
  }

  resume(): void {
    this.#inflow?.resume();
  }

  unsentBytes(): number {
    return this.output.writableLength;
  }

  close(code: number, reason: string): void {
    if (this.isClosed) return;
    this.#inflow?.resume();
    this.output.end(this.goodbye(code, reason), () => this.end(code, reason));
    this.#closing = setTimeout(() => this.terminate(), CLOSE_MS).unref();
  }

  terminate(): void {
    this.end(1006, "");
    this.output.destroy();
    this.input.destroy();
  }

  protected abstract receive(chunk: Buffer): void;

  protected abstract write(frame: Uint8Array, sent: () => void): void;

  /** The last bytes written; none by default. */
  protected goodbye(_code: number, _reason: string): Buffer {
    return Buffer.alloc(0);
  }

  /** A frame is whole. */
  protected deliver(frame: Uint8Array): void {
    this.#inflow?.offer(() => this.#handlers?.frame(frame));
  }

  /** Nothing more can be read, in order. */
  protected inputEnded(): void {}

  /** Refuses what is too large: what follows cannot be told apart from it. */
  protected refuse(reason: string): void {
    this.input.removeAllListeners("data");
    this.#inflow?.discard();
    this.close(CLOSE.tooBig, reason);
  }

  protected end(code: number, reason: string): void {
    if (this.isClosed) return;
    this.isClosed = true;
    clearTimeout(this.#closing);
    this.input.pause();
    // Behind the frames that wait for their turn.
    this.#inflow?.resume();
    this.#inflow?.offer(() => this.#handlers?.closed(code, reason));
  }
}
