// Forwards signals sent to execwire to the command.
import type { Process } from "../../process/process.ts";
import { say } from "../report.ts";

/** Signals forwarded to a command that we started. */
export const ALL_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
/** Signals forwarded to a command that we attached to. Not SIGHUP: the command outlives our terminal. */
export const ENDING_SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** This many SIGINT or SIGTERM kill the command with its tree, since it ignores the signals. */
export const INTERRUPTS_TO_FORCE = 3;

/**
 * Forwards signals to the command's process group; the returned function stops it. `onForce` is called at each SIGINT or SIGTERM
 * from the `INTERRUPTS_TO_FORCE`th on.
 */
export function forwardSignals(
  child: Process,
  signals: readonly (typeof ALL_SIGNALS)[number][],
  onForce: () => void,
): () => void {
  let interrupts = 0;
  const forward = (signal: (typeof ALL_SIGNALS)[number]) => {
    if (signal === "SIGINT" || signal === "SIGTERM") interrupts += 1;
    const isForced = interrupts >= INTERRUPTS_TO_FORCE;
    const sent = isForced ? child.terminate({ graceMs: 0, scope: "tree" }) : child.signal(signal);
    sent.catch((error: Error) => say(error.message));
    if (isForced) onForce();
  };
  for (const signal of signals) process.on(signal, forward);
  return () => {
    for (const signal of signals) process.off(signal, forward);
  };
}
