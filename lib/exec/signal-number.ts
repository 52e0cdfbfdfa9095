// Numbers of signals, for exit codes as in a shell. Always those of Linux: the process may be on another machine, and browsers
// and Windows have no signal numbers.

const NAMES =
  "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS".split(
    " ",
  );
const FIRST_REALTIME = 32;

/** The number of a signal, also of a real-time signal as `SIGRTn`; undefined for a name that Linux does not know. */
export function signalNumber(name: string): number | undefined {
  const realtime = /^SIGRT(\d{1,2})$/.exec(name);
  if (realtime) return FIRST_REALTIME + Number(realtime[1]);
  const index = NAMES.indexOf(name.replace(/^SIG/, ""));
  return index < 0 ? undefined : index + 1;
}
