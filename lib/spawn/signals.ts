// The signals of this system, which may number them differently from Linux (`process/signal-number.ts`).
import { constants } from "node:os";
import { FIRST_REALTIME, signalNumber } from "../process/signal-number.ts";

// The first of several names for a number: SIGABRT, not SIGIOT; SIGIO, not SIGPOLL. Reversed, since the last entry wins.
const names = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);
const LAST_SIGNAL = 64;

/** The name of a signal; real-time signals, which Node does not name, are SIGRTn. */
export function hostSignalName(number: number): string {
  return names.get(number) ?? (number >= FIRST_REALTIME ? `SIGRT${number - FIRST_REALTIME}` : `SIG${number}`);
}

/** The number of a signal; undefined if this system has no signal of that name. */
export function hostSignalNumber(name: string): number | undefined {
  if (Object.hasOwn(constants.signals, name)) return constants.signals[name as keyof typeof constants.signals];
  const number = signalNumber(name) ?? 0;
  return number >= FIRST_REALTIME && number <= LAST_SIGNAL ? number : undefined;
}

/** Whether this system has a signal of that name. */
export function isSignal(name: string): boolean {
  return hostSignalNumber(name) !== undefined;
}
