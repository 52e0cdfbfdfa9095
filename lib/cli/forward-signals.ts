// Signals sent to us are meant for the command.
import type { Process } from "../process/process.ts";
import { say } from "./report.ts";

/** What a command that we started is told. */
export const ALL_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
/** What a command that we only joined is told: it outlives our terminal. */
export const ENDING_SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Who asks this often to end means it: a command that ignores the signal is then killed with its tree. */
export const PATIENCE = 3;

/** Passes signals on to the command's process group until undone. `onImpatience` is told when somebody insists on an end. */
export function forwardSignals(
  child: Process,
  signals: readonly (typeof ALL_SIGNALS)[number][],
  onImpatience: () => void,
): () => void {
  let requests = 0;
  const forward = (signal: (typeof ALL_SIGNALS)[number]) => {
    if (signal === "SIGINT" || signal === "SIGTERM") requests += 1;
    const insists = requests >= PATIENCE;
    const sent = insists ? child.terminate({ graceMs: 0, scope: "tree" }) : child.signal(signal);
    sent.catch((error: Error) => say(error.message));
    if (insists) onImpatience();
  };
  for (const signal of signals) process.on(signal, forward);
  return () => {
    for (const signal of signals) process.off(signal, forward);
  };
}
