// Names and numbers of signals.
import { constants } from "node:os";

// The first of several names for a number: SIGABRT, not SIGIOT; SIGIO, not SIGPOLL. Reversed, since the last entry wins.
const names = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);
/** SIGRTMIN of the kernel; the C library reserves the first two real-time signals. */
const FIRST_REALTIME = 32;
const LAST_SIGNAL = 64;

/** The name of a signal; real-time signals, which Node does not name, are SIGRTn. */
export function signalName(number: number): string {
  return names.get(number) ?? (number >= FIRST_REALTIME ? `SIGRT${number - FIRST_REALTIME}` : `SIG${number}`);
}

/** The number of a signal; undefined if this system has no signal of that name. */
export function signalNumber(name: string): number | undefined {
  const realtime = /^SIGRT(\d{1,2})$/.exec(name);
  if (realtime) {
    const number = FIRST_REALTIME + Number(realtime[1]);
    return number <= LAST_SIGNAL ? number : undefined;
  }
  return constants.signals[name as keyof typeof constants.signals];
}

/** Whether this system has a signal of that name. */
export function isSignal(name: string): boolean {
  return signalNumber(name) !== undefined;
}
