// Text frames over a pair of byte streams, one per line. Blank lines are ignored; `\r\n` ends a line too. Node only.
import type { Readable, Writable } from "node:stream";
import { StreamPair } from "./stream-pair.ts";
import type { Transport } from "./transport.ts";

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;

/** A transport over the lines of `input` and `output`; a line of more than `lineBytes` closes it. */
export function lineTransport(input: Readable, output: Writable, lineBytes: number): Transport {
  return new LineTransport(input, output, lineBytes);
}

class LineTransport extends StreamPair {
  readonly #maxLineBytes: number;
  #lineBytes: number;
  /** The parts of a line whose end has not arrived. */
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(input: Readable, output: Writable, lineBytes: number) {
    super(input, output);
    this.#maxLineBytes = lineBytes;
    this.#lineBytes = lineBytes;
  }

  limitFrames(bytes: number): void {
    this.#lineBytes = Math.min(bytes, this.#maxLineBytes);
  }

  protected override write(frame: Uint8Array, sent: () => void): void {
    this.output.write(frame);
    this.output.write("\n", sent);
  }

  protected override receive(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0 && !this.isClosed; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end));
      start = end + 1;
      if (this.#isTooLong()) return;
      this.#deliver();
    }
    if (this.isClosed) return;
    this.#add(chunk.subarray(start));
    this.#isTooLong();
  }

  /** Closes the connection if the line is too long. */
  #isTooLong(): boolean {
    if (this.#bytes <= this.#lineBytes) return false;
    this.#pieces = [];
    this.#bytes = 0;
    this.refuse(`a line of more than ${this.#lineBytes} bytes`);
    return true;
  }

  /** A last line without a newline is a frame too. */
  protected override inputEnded(): void {
    this.#deliver();
  }

  #deliver(): void {
    const line = this.#take();
    if (!this.isClosed && line.some((byte) => byte > SPACE)) this.deliver(line);
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
}
