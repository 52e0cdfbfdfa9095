// Connects our terminal to the command's, and restores it on every way out.
import { writeSync } from "node:fs";
import type { TerminalSize } from "../../../protocol/index.ts";
import type { Process } from "../../process/process.ts";
import { cLibrary } from "../c-library.ts";
import { isHeeded } from "../ignored-signals.ts";
import { write } from "../output.ts";
import type { Screen } from "./screen.ts";

/** Signals that end a program without a listener. */
const FATAL_SIGNALS = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGALRM", "SIGXCPU", "SIGVTALRM"] as const;

/** How long a terminal may take to become writable when we must restore it at once, and otherwise. */
const RESTORE_NOW_MS = 200;
const RESTORE_MS = 300;

/** The size of our terminal; empty if the stream is not a terminal. */
export function terminalSize(stream: NodeJS.WriteStream): Partial<TerminalSize> {
  return stream.isTTY && stream.rows > 0 && stream.columns > 0 ? { rows: stream.rows, cols: stream.columns } : {};
}

/** Sets raw mode, so that every key reaches the command, and forwards our terminal's size. The returned function undoes both. */
export function connectTerminal(child: Process, interactive: boolean): () => void {
  const { stdin, stdout } = process;
  const isRaw = interactive && stdin.isTTY;
  if (isRaw) stdin.setRawMode(true);
  const resize = () => resizeTo(child, stdout);
  stdout.on("resize", resize);
  return () => {
    stdout.off("resize", resize);
    if (isRaw) stdin.setRawMode(false);
  };
}

/** Resizes the process's terminal to the size of ours. */
export function resizeTo(child: Process, stream: NodeJS.WriteStream): void {
  const { rows, cols } = terminalSize(stream);
  if (rows && cols) child.resize({ rows, cols }).catch(() => undefined);
}

/**
 * Restores our terminal if the program exits, or is ended by a signal that has no other listener. The returned function stops this
 * and restores it in order, behind the output written before.
 */
export function guardTerminal(screen: Screen | undefined, restoreModes?: () => void): () => Promise<void> {
  const restoreNow = () => {
    restoreModes?.();
    const sequences = screen?.end() ?? "";
    // A terminal that is paused would block us for ever.
    if (sequences === "" || cLibrary()?.takesBytes(1, RESTORE_NOW_MS) === false) return;
    try {
      writeSync(1, sequences);
    } catch {
      // The terminal is gone.
    }
  };
  const die = (signal: NodeJS.Signals) => {
    if (process.listenerCount(signal) > 1) return;
    restoreNow();
    process.off(signal, die);
    process.kill(process.pid, signal);
  };
  process.on("exit", restoreNow);
  for (const signal of FATAL_SIGNALS.filter(isHeeded)) process.on(signal, die);
  return async () => {
    restoreModes?.();
    await write("stdout", screen?.end() ?? "", { signal: AbortSignal.timeout(RESTORE_MS) }).catch(() => undefined);
    process.off("exit", restoreNow);
    for (const signal of FATAL_SIGNALS) process.off(signal, die);
  };
}
