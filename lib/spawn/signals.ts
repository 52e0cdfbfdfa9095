// Names of signals.
import { constants } from "node:os";

const names = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));
/** SIGRTMIN in the kernel's counting; the C library keeps the first two for itself. */
const FIRST_REALTIME = 32;
const LAST_SIGNAL = 64;

/** Name of a signal number; real-time signals, which Node does not name, as SIGRTn. */
export function signalName(number: number): string {
  return names.get(number) ?? (number >= FIRST_REALTIME ? `SIGRT${number - FIRST_REALTIME}` : `SIG${number}`);
}

/** Number of a signal; undefined when this system has none of that name. */
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
