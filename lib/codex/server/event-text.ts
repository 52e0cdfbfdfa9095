// The log of a process as this dialect writes it: notifications for who follows, and the answer to `process/read`.
import type { ExitedEvent, OutputEvent, ProcessEvent, ResizedEvent } from "../../../protocol/index.ts";
import { shellExitCode } from "../../process/signal-number.ts";

/** Gives memory for a frame of exactly so many bytes. */
export type Allocate = (bytes: number) => Buffer;

/** Writes the events of one process; what they have in common is written once. */
export class EventText {
  readonly #outputHead: string;
  readonly #params: string;

  constructor(processId: string) {
    this.#params = `"params":{"processId":${JSON.stringify(processId)},"seq":`;
    this.#outputHead = `{"method":"process/output",${this.#params}`;
  }

  /** The notification of an event, in memory that `allocate` gives. */
  notification(event: ProcessEvent, allocate: Allocate): Buffer {
    switch (event.type) {
      case "output":
      case "resized":
        return chunkJson(this.#outputHead, event, "}}", allocate);
      case "exited":
        return Buffer.from(
          `{"method":"process/exited",${this.#params}${event.seq},"exitCode":${exitCodeOf(event)},"sandboxDenied":${event.sandboxDenied}}}`,
        );
      case "closed":
        return Buffer.from(`{"method":"process/closed",${this.#params}${event.seq}}}`);
    }
  }
}

/** One element of `chunks` in the answer to a read. */
export function chunkOfRead(event: OutputEvent | ResizedEvent): Buffer {
  return chunkJson('{"seq":', event, "}", Buffer.allocUnsafe);
}

/** The exit as one number; -1 where none is known. */
export function exitCodeOf(exit: ExitedEvent): number {
  return shellExitCode(exit) ?? -1;
}

/** There is no notification for a resize, and a seq that never comes would hang the client: it is output of nothing. */
function chunkJson(head: string, event: OutputEvent | ResizedEvent, tail: string, allocate: Allocate): Buffer {
  const stream = event.type === "output" ? event.stream : "pty";
  const start = `${head}${event.seq},"stream":"${stream}","chunk":"`;
  const end = `"${tail}`;
  if (event.type === "resized") return Buffer.from(start + end);
  const { buffer, byteOffset, byteLength } = event.chunk;
  const chunk = Buffer.from(buffer, byteOffset, byteLength).toString("base64");
  const startBytes = Buffer.byteLength(start);
  const text = allocate(startBytes + chunk.length + end.length);
  text.write(start, 0);
  text.write(chunk, startBytes, "latin1");
  text.write(end, startBytes + chunk.length, "latin1");
  return text;
}
