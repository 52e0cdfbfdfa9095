// The events of a process in the form in which specs compare them: chunks as text, everything else unchanged.
import { firstValueFrom, map, toArray } from "rxjs";
import type { Process } from "../../lib/process/process.ts";
import type { ClosedEvent, Delivery, ExitedEvent, GapNotice, OutputEvent, StreamName } from "../../protocol/index.ts";

/** An output event with its bytes decoded. */
export interface OutputText {
  readonly type: "output";
  readonly seq: number;
  readonly stream: StreamName;
  readonly text: string;
}

/** What a subscriber received. */
export type Seen = OutputText | Exclude<Delivery, OutputEvent>;

/** One delivery in that form. */
export function seen(delivery: Delivery): Seen {
  if (delivery.type !== "output") return delivery;
  const { type, seq, stream, chunk } = delivery;
  return { type, seq, stream, text: Buffer.from(chunk).toString() };
}

/** Everything that a subscriber after `afterSeq` receives, once the process is closed. */
export function transcript(process: Process, afterSeq = 0): Promise<Seen[]> {
  return firstValueFrom(process.events({ afterSeq }).pipe(map(seen), toArray()));
}

/** An expected output event. */
export function output(seq: number, stream: StreamName, text: string): OutputText {
  return { type: "output", seq, stream, text };
}

/** An expected exit; by default with code 0. */
export function exited(seq: number, facts: Partial<ExitedEvent> = {}): ExitedEvent {
  return {
    type: "exited",
    seq,
    exitCode: 0,
    signal: null,
    result: "success",
    reason: "exited",
    sandboxDenied: false,
    ...facts,
  };
}

/** An expected end; by default without output. */
export function closed(seq: number, bytes: Partial<Record<StreamName, number>> = {}): ClosedEvent {
  return { type: "closed", seq, bytes: { stdout: 0, stderr: 0, pty: 0, ...bytes } };
}

/** An expected gap. */
export function gap(firstSeq: number, lastSeq: number, bytes: number): GapNotice {
  return { type: "gap", firstSeq, lastSeq, bytes };
}
