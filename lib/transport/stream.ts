// Frames over a pair of byte streams: stdin and stdout of a program, such as `ssh host execwire serve --listen stdio`. Each frame
// is preceded by its length, 4 bytes, big-endian. A length of 0 begins the closing record: code and length of the reason, 2 bytes
// each, then the reason. Node only.
import type { Readable, Writable } from "node:stream";
import { StreamPair } from "./stream-pair.ts";
import type { Transport } from "./transport.ts";

const PREFIX_BYTES = 4;

/** Most bytes of text before the first frame. */
const MAX_TEXT_BYTES = 64 * 1024;

/** A transport that reads from `input` and writes to `output`. */
export function streamTransport(input: Readable, output: Writable, frameBytes: number): Transport {
  return new StreamTransport(input, output, frameBytes);
}

/**
 * The same, for a program that a shell or ssh starts: text that they print before the first frame, such as a greeting, is passed
 * to `onText` and not read as a frame. A frame begins with a byte 0, since its length is below 2^24, and text has none.
 */
export function streamTransportAfterText(
  input: Readable,
  output: Writable,
  frameBytes: number,
  onText: (text: Buffer) => void,
): Transport {
  return new StreamTransport(input, output, frameBytes, onText);
}

class StreamTransport extends StreamPair {
  readonly #maxFrameBytes: number;
  #frameBytes: number;
  /** Set until the first frame. */
  #onText: ((text: Buffer) => void) | undefined;
  #textBytes = 0;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(input: Readable, output: Writable, frameBytes: number, onText?: (text: Buffer) => void) {
    super(input, output);
    this.#onText = onText;
    this.#maxFrameBytes = frameBytes;
    this.#frameBytes = frameBytes;
  }

  limitFrames(bytes: number): void {
    this.#frameBytes = Math.min(bytes, this.#maxFrameBytes);
  }

  protected override write(frame: Uint8Array, sent: () => void): void {
    const prefix = Buffer.alloc(PREFIX_BYTES);
    prefix.writeUInt32BE(frame.length);
    this.output.write(prefix);
    this.output.write(frame, sent);
  }

  protected override closing(code: number, reason: string): Buffer {
    const text = Buffer.from(reason);
    const record = Buffer.alloc(PREFIX_BYTES + 4);
    record.writeUInt16BE(code, PREFIX_BYTES);
    record.writeUInt16BE(text.length, PREFIX_BYTES + 2);
    return Buffer.concat([record, text]);
  }

  protected override receive(piece: Buffer): void {
    const chunk = this.#onText ? this.#skipText(piece, this.#onText) : piece;
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (!this.isClosed && this.#bytes >= PREFIX_BYTES) {
      const length = this.#peek(PREFIX_BYTES).readUInt32BE();
      if (length > this.#frameBytes) {
        this.#chunks = [];
        this.#bytes = 0;
        return this.refuse(`a frame of ${length} bytes exceeds ${this.#frameBytes}`);
      }
      if (length === 0) {
        if (!this.#takeClosing()) return;
        continue;
      }
      if (this.#bytes < PREFIX_BYTES + length) return;
      this.deliver(this.#take(PREFIX_BYTES + length).subarray(PREFIX_BYTES));
    }
  }

  #skipText(piece: Buffer, onText: (text: Buffer) => void): Buffer {
    const end = piece.indexOf(0);
    const text = end < 0 ? piece : piece.subarray(0, end);
    if (text.length > 0) onText(text);
    this.#textBytes += text.length;
    if (end >= 0) this.#onText = undefined;
    else if (this.#textBytes > MAX_TEXT_BYTES) this.refuse(`more than ${MAX_TEXT_BYTES} bytes of text and no frame`);
    return piece.subarray(text.length);
  }

  #takeClosing(): boolean {
    const header = PREFIX_BYTES + 4;
    if (this.#bytes < header) return false;
    const length = this.#peek(header).readUInt16BE(PREFIX_BYTES + 2);
    if (this.#bytes < header + length) return false;
    const record = this.#take(header + length);
    this.end(record.readUInt16BE(PREFIX_BYTES), record.toString("utf8", header));
    this.output.end();
    return true;
  }

  /** The first bytes, left in place. */
  #peek(bytes: number): Buffer {
    if ((this.#chunks[0] as Buffer).length < bytes) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] as Buffer;
  }

  #take(bytes: number): Buffer {
    const first = this.#peek(bytes);
    const rest = first.subarray(bytes);
    if (rest.length > 0) this.#chunks[0] = rest;
    else this.#chunks.shift();
    this.#bytes -= bytes;
    return first.subarray(0, bytes);
  }
}
