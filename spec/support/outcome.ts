// A whole process as one value, and the output up to a marker, for specs in which chunks and seqs do not matter.
import { firstValueFrom, map, scan, takeWhile, toArray } from "rxjs";
import type { Process } from "../../lib/process/process.ts";
import type { ExitedEvent, GapNotice, StreamName } from "../../protocol/index.ts";

/** Everything that a process printed, and how it ended. */
export interface Outcome extends Record<StreamName, string> {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** Waits until the process is closed. Lost output is an error. */
export async function outcome(process: Process): Promise<Outcome> {
  const deliveries = await firstValueFrom(process.output$.pipe(toArray()));
  const exit = await firstValueFrom(process.exit$);
  const text = (stream: StreamName) =>
    Buffer.concat(
      deliveries.flatMap((delivery) => {
        if (delivery.type === "gap") throw lost(delivery);
        return delivery.stream === stream ? [delivery.chunk] : [];
      }),
    ).toString();
  return {
    stdout: text("stdout"),
    stderr: text("stderr"),
    pty: text("pty"),
    exitCode: exit.exitCode,
    signal: exit.signal,
  };
}

/** Waits until the process has printed `marker` on any stream; returns everything printed until then. */
export async function printed(process: Process, marker: string | RegExp): Promise<string> {
  const isThere = (text: string) => (typeof marker === "string" ? text.includes(marker) : marker.test(text));
  const texts = process.output$.pipe(
    map((delivery) => {
      if (delivery.type === "gap") throw lost(delivery);
      return Buffer.from(delivery.chunk).toString("latin1");
    }),
    scan((whole, piece) => whole + piece, ""),
    takeWhile((whole) => !isThere(whole), true),
    toArray(),
  );
  const whole = (await firstValueFrom(texts)).at(-1) ?? "";
  if (!isThere(whole)) throw new Error(`the process ended without printing ${marker}; it printed: ${whole}`);
  return whole;
}

/** The exit, once known. */
export function exitOf(process: Process): Promise<ExitedEvent> {
  return firstValueFrom(process.exit$);
}

/** Waits until the process is closed. */
export async function end(process: Process): Promise<void> {
  await firstValueFrom(process.closed$);
}

function lost({ firstSeq, lastSeq }: GapNotice): Error {
  return new Error(`output was lost: events ${firstSeq} to ${lastSeq}`);
}
