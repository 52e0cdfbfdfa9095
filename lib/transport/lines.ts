// Frames of text over a pair of byte streams, one a line. Blank lines are none, and `\r\n` ends a line as well. Node only.
import type { Readable, Writable } from "node:stream";
import { CLOSE, CLOSE_MS, type Transport, type TransportHandlers } from "./transport.ts";

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;

/** A transport over the lines of `input` and `output`; a line of more than `lineBytes` ends it. */
export function lineTransport(input: Readable, output: Writable, lineBytes: number): Transport {
  return new LineTransport(input, output, lineBytes);
}

class LineTransport implements Transport {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #lineBytes: number;
  #handlers: TransportHandlers | undefined;
  /** The pieces of a line whose end has not come. */
  #pieces: Buffer[] = [];
  #bytes = 0;
  #closed = false;

  constructor(input: Readable, output: Writable, lineBytes: number) {
    this.#input = input;
    this.#output = output;
    this.#lineBytes = lineBytes;
  }

  listen(handlers: TransportHandlers): void {
    this.#handlers = handlers;
    this.#input.on("data", (chunk: Buffer) => this.#receive(chunk));
    this.#input.once("end", () => {
      // The last line needs no newline.
      this.#deliver();
      this.#end(1006, "the stream ended");
    });
    this.#input.once("close", () => this.#end(1006, "the stream ended"));
    this.#input.on("error", () => undefined);
    this.#output.on("error", () => this.#end(1006, "the stream cannot be written"));
  }

  send(frame: Uint8Array, sent?: () => void): void {
    if (this.#closed) {
      sent?.();
      return;
    }
    this.#output.write(frame);
    this.#output.write("\n", () => sent?.());
  }

  close(code: number, reason: string): void {
    if (this.#closed) return;
    this.#output.end(() => this.#end(code, reason));
    setTimeout(() => this.terminate(), CLOSE_MS).unref();
  }

  terminate(): void {
    this.#end(1006, "");
    this.#output.destroy();
    this.#input.destroy();
  }

  #receive(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0 && !this.#closed; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end));
      start = end + 1;
      this.#deliver();
    }
    if (this.#closed) return;
    this.#add(chunk.subarray(start));
    if (this.#bytes > this.#lineBytes) this.#refuse();
  }

  #deliver(): void {
    const line = this.#take();
    if (!this.#closed && line.some((byte) => byte > SPACE)) this.#handlers?.frame(line);
  }

  #add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
  }

  #take(): Buffer {
    const line = this.#pieces.length === 1 ? (this.#pieces[0] as Buffer) : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#bytes = 0;
    return line.at(-1) === RETURN ? line.subarray(0, -1) : line;
  }

  #refuse(): void {
    this.#input.removeAllListeners("data");
    this.#input.resume();
    this.#pieces = [];
    this.close(CLOSE.tooBig, `a line of more than ${this.#lineBytes} bytes`);
  }

  #end(code: number, reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.pause();
    this.#handlers?.closed(code, reason);
  }
}
