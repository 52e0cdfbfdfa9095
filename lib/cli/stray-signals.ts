// Stops SIGUSR1 from opening Node's inspector. The inspector listens on a port without a token, and any user who reaches
// the port can run code in this program. A listener for the signal replaces Node's handler on every version of Node;
// `--disable-sigusr1` does not exist on Node 20. SIGUSR2 has no such handler, but would end a server with all its processes.
import { isHeeded } from "./ignored-signals.ts";
import { say } from "./report.ts";

/** Sent by log rotation or by mistake; this program has no use for them. */
const IGNORED_SIGNALS = ["SIGUSR1", "SIGUSR2"] as const;

/** Not `--inspect-port`, which alone does not open the inspector. */
const OPENS_INSPECTOR = /--inspect(-brk|-wait)?(?![\w-])/;

/**
 * Handles SIGUSR1 and SIGUSR2 until the program ends. They are ignored, with a line on stderr, unless there is another
 * listener: a command that forwards them, or a Node option (`--heapsnapshot-signal`). Ignored and not fatal, since a signal meant
 * for another program must not end our processes.
 */
export function ignoreStraySignals(): void {
  for (const signal of IGNORED_SIGNALS) {
    if (process.platform === "win32" || !isHeeded(signal)) continue;
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) say(`${signal} was ignored`);
    });
  }
  closeEarlyInspector();
  // A signal that arrived before may still be pending in Node's signal thread.
  setImmediate(closeEarlyInspector).unref();
}

/** Closes an inspector that a signal opened while Node was starting, but not one that the user asked for. */
function closeEarlyInspector(): void {
  if (OPENS_INSPECTOR.test([...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" "))) return;
  const inspector = process.getBuiltinModule("inspector");
  if (inspector?.url() !== undefined) inspector.close();
}
