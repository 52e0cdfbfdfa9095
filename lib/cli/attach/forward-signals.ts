// Forwards signals sent to execwire to the command.
import type { Process } from "../../process/process.ts";
import { isHeeded } from "../ignored-signals.ts";
import { sayFailure } from "../report.ts";
import { shareStops } from "./job-control.ts";

/** Signals forwarded to a command that we started. */
export const ALL_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM"] as const;
/** Signals forwarded to a command that we attached to. Not SIGHUP: the command outlives our terminal. */
export const ENDING_SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Signals that arrived before the command could get them. */
let held: NodeJS.Signals[] | undefined;

/** Holds the signals for `forwardSignals`, so that none between the start of a command and that call ends us. */
export function holdSignals(): void {
  held = [];
  for (const signal of ALL_SIGNALS.filter(isHeeded)) process.on(signal, hold);
}

function hold(signal: NodeJS.Signals): void {
  if (!held?.includes(signal)) return void held?.push(signal);
  // The user does not want to wait for the start.
  process.off(signal, hold);
  process.kill(process.pid, signal);
}

/** This many SIGINT or SIGTERM kill the command with its tree, since it ignores the signals. */
export const INTERRUPTS_TO_FORCE = 3;

/** What else a signal does. */
export interface ForwardOptions {
  /** Called at each SIGINT or SIGTERM from the `INTERRUPTS_TO_FORCE`th on. */
  readonly onForce: () => void;
  /** Called when the kill at such a signal failed; returns whether it has reported that. */
  readonly onKillFailed: (signal: NodeJS.Signals, error: unknown) => boolean;
  /** Ctrl-Z stops the command too. */
  readonly sharesStops: boolean;
}

/** Forwards signals to the command's process group; the returned function stops it. */
export function forwardSignals(
  child: Process,
  signals: readonly (typeof ALL_SIGNALS)[number][],
  { onForce, onKillFailed, sharesStops }: ForwardOptions,
): () => void {
  let interrupts = 0;
  const forward = (signal: (typeof ALL_SIGNALS)[number]) => {
    if (signal === "SIGINT" || signal === "SIGTERM") interrupts += 1;
    const isForced = interrupts >= INTERRUPTS_TO_FORCE;
    const sent = isForced ? child.terminate({ graceMs: 0, scope: "tree" }) : child.signal(signal);
    sent.catch((error: Error) => {
      if (!isForced || !onKillFailed(signal, error)) sayFailure(error);
    });
    if (isForced) onForce();
  };
  const heeded = signals.filter(isHeeded);
  for (const signal of heeded) process.on(signal, forward).off(signal, hold);
  for (const signal of held?.splice(0) ?? []) forward(signal as (typeof heeded)[number]);
  const release = sharesStops ? shareStops(child) : undefined;
  return () => {
    release?.();
    for (const signal of heeded) process.off(signal, forward);
  };
}
