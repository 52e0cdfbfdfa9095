// Signals sent to us are meant for the command.
import type { Process } from "../process/process.ts";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
/** Who asks this often to end means it: a command that ignores the signal is then killed with its tree. */
const PATIENCE = 3;

/** Passes signals on to the command's process group until undone. */
export function forwardSignals(child: Process): () => void {
  let requests = 0;
  const forward = (signal: (typeof FORWARDED)[number]) => {
    if (signal === "SIGINT" || signal === "SIGTERM") requests += 1;
    const sent = requests >= PATIENCE ? child.terminate({ graceMs: 0, scope: "tree" }) : child.signal(signal);
    sent.catch((error: Error) => process.stderr.write(`execwire: ${error.message}\n`));
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  return () => {
    for (const signal of FORWARDED) process.off(signal, forward);
  };
}
