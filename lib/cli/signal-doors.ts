// A signal must not open a door. Node opens its inspector on SIGUSR1, on a port without a token: whoever reaches the port runs
// code in this program. A listener takes the place of that handler, on every version of Node; `--disable-sigusr1` does not
// exist on Node 20. SIGUSR2 has no such handler, but would end a server with all its processes.
import { say } from "./report.ts";

/** Sent by log rotations and mistaken commands; of no meaning to this program. */
const WITHOUT_MEANING = ["SIGUSR1", "SIGUSR2"] as const;

/** `--inspect-port` alone opens nothing. */
const OPENS_INSPECTOR = /--inspect(-brk|-wait)?(?![\w-])/;

/**
 * Takes over the signals that have no meaning here, for as long as the program runs. They are ignored, with a line on stderr,
 * unless something else listens: a command that passes them on, or what the user asked Node for (`--heapsnapshot-signal`).
 * Ignored and not fatal, since a signal that was meant for another program must not end what this one keeps.
 */
export function closeSignalDoors(): void {
  for (const signal of WITHOUT_MEANING) {
    if (process.platform === "win32") continue;
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) say(`${signal} was ignored`);
    });
  }
  closeEarlyInspector();
  // A signal of the time before may still be on its way to Node's thread.
  setImmediate(closeEarlyInspector).unref();
}

/** Closes an inspector that a signal opened while Node itself was starting. One that the user asked for stays. */
function closeEarlyInspector(): void {
  if (OPENS_INSPECTOR.test([...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" "))) return;
  const inspector = process.getBuiltinModule("inspector");
  if (inspector?.url() !== undefined) inspector.close();
}
