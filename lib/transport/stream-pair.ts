// The common base of transports over a pair of byte streams. Node only.
import type { Readable, Writable } from "node:stream";
import { type Inflow, ReadTurns } from "./admission/read-turns.ts";
import { CLOSE, CLOSE_MS, type Transport, type TransportHandlers } from "./transport.ts";

/** Frames read from `input` and written to `output`; the subclass delimits them. */
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
    // After the end `sent` is never called: frames that are not sent must not count as room for more.
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
    this.output.end(this.closing(code, reason), () => this.end(code, reason));
    this.#closing = setTimeout(() => this.terminate(), CLOSE_MS).unref();
  }

  terminate(): void {
    this.end(1006, "");
    this.output.destroy();
    this.input.destroy();
  }

  protected abstract receive(chunk: Buffer): void;

  protected abstract write(frame: Uint8Array, sent: () => void): void;

  /** The bytes written at the end of the connection; none by default. */
  protected closing(_code: number, _reason: string): Buffer {
    return Buffer.alloc(0);
  }

  /** A frame is complete. */
  protected deliver(frame: Uint8Array): void {
    this.#inflow?.offer(() => this.#handlers?.frame(frame));
  }

  /** The input ended, without an error. */
  protected inputEnded(): void {}

  /** Closes the connection because a frame is too large; the end of that frame is unknown, so no more is read. */
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
    // After the frames that wait for their turn.
    this.#inflow?.resume();
    this.#inflow?.offer(() => this.#handlers?.closed(code, reason));
  }
}
