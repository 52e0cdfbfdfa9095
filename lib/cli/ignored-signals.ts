// Signals that were ignored when this program was started, as by nohup, or by a shell for its background jobs, stay ignored.
import { hostSignalNumber } from "../spawn/signals.ts";
import { startState } from "../spawn/start-state.ts";

/** Ignores them; Node has reset them. */
export async function keepIgnoredSignals(): Promise<void> {
  const { ignored } = startState();
  if (ignored.length === 0) return;
  const { ignoreSignals } = await import("../spawn/posix/ignore-signals.ts");
  ignoreSignals(ignored);
}

/** Whether a listener may be added for the signal. It would end the ignoring. */
export function isHeeded(signal: NodeJS.Signals): boolean {
  return !startState().ignored.includes(hostSignalNumber(signal) ?? 0);
}
