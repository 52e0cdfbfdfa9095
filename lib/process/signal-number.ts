// Signal numbers, for exit codes as shells report them. Always those of Linux: the process may be on another machine, and a
// browser or Windows has none at all.
import type { ExitedEvent } from "../../protocol/index.ts";

const NAMES =
  "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS".split(
    " ",
  );
/** Other names for the same signals, as some hosts report them. */
const ALIASES: Readonly<Record<string, string>> = { SIGIOT: "SIGABRT", SIGPOLL: "SIGIO", SIGCLD: "SIGCHLD" };
/** SIGRTMIN of the kernel; the C library reserves the first two real-time signals. */
export const FIRST_REALTIME = 32;

/** The number of a signal, including real-time signals as `SIGRTn`; undefined for a name that Linux does not have. */
export function signalNumber(name: string): number | undefined {
  const realtime = /^SIGRT(\d{1,2})$/.exec(name);
  if (realtime) return FIRST_REALTIME + Number(realtime[1]);
  const own = ALIASES[name] ?? name;
  const index = own.startsWith("SIG") ? NAMES.indexOf(own.slice(3)) : -1;
  return index < 0 ? undefined : index + 1;
}

/** An exit as one number, as shells report it: 128+n after a death by signal n; null where neither is known. */
export function shellExitCode({ exitCode, signal }: Pick<ExitedEvent, "exitCode" | "signal">): number | null {
  return signal === null ? exitCode : 128 + (signalNumber(signal) ?? 0);
}
