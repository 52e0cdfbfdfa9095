// The log of a process in this dialect: notifications for a connected client, and the reply to `process/read`.
import type { ExitedEvent, OutputEvent, ProcessEvent, ResizedEvent } from "../../../protocol/index.ts";
import { shellExitCode } from "../../process/signal-number.ts";

/** Returns memory for a frame of exactly this many bytes. */
export type Allocate = (bytes: number) => Buffer;

/** Encodes the events of one process; the parts that all of them share are encoded once. */
export class EventText {
  readonly #outputHead: string;
  readonly #params: string;

  constructor(processId: string) {
    this.#params = `"params":{"processId":${JSON.stringify(processId)},"seq":`;
    this.#outputHead = `{"method":"process/output",${this.#params}`;
  }

  /** The notification for an event, in memory from `allocate`. */
  notification(event: ProcessEvent, allocate: Allocate): Buffer {
    switch (event.type) {
      case "output":
      case "resized":
        return chunkJson(this.#outputHead, event, "}}", allocate);
      case "exited":
        return Buffer.from(
          `{"method":"process/exited",${this.#params}${event.seq},"exitCode":${codexExitCode(event)},"sandboxDenied":${event.sandboxDenied}}}`,
        );
      case "closed":
        return Buffer.from(`{"method":"process/closed",${this.#params}${event.seq}}}`);
    }
  }
}

/** One element of `chunks` in the reply to a read. */
export function chunkOfRead(event: OutputEvent | ResizedEvent): Buffer {
  return chunkJson('{"seq":', event, "}", Buffer.allocUnsafe);
}

/** The exit as one number: 128+n after a death by signal n, as shells report it; -1 when it is unknown. */
export function codexExitCode(exit: ExitedEvent): number {
  return shellExitCode(exit) ?? -1;
}

/** This dialect has no resize notification, and a client would wait forever for a missing seq: a resize becomes empty output. */
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
