// Our terminal, standing for the command's.
import { spawnSync } from "node:child_process";
import type { TerminalSize } from "../../protocol/index.ts";
import type { Process } from "../process/process.ts";

/** Ends the modes that a full-screen program leaves on: hidden cursor, alternate screen, pasting and mouse reports. */
const PLAIN_SCREEN = "\x1b[?25h\x1b[?1049l\x1b[?2004l\x1b[?1000l\x1b[?1006l";

/** The size of our terminal, where we have one. */
export function terminalSize(stream: NodeJS.WriteStream): Partial<TerminalSize> {
  return stream.isTTY && stream.rows > 0 && stream.columns > 0 ? { rows: stream.rows, cols: stream.columns } : {};
}

/** Puts our terminal into raw mode, so that every key reaches the command, and passes its size on; until undone. */
export function connectTerminal(child: Process, interactive: boolean): () => void {
  const { stdin, stdout } = process;
  const raw = interactive && stdin.isTTY;
  if (raw) {
    stdin.setRawMode(true);
    // Node leaves output processing on, which would turn each newline of the command's terminal into two characters again.
    spawnSync("stty", ["-opost"], { stdio: ["inherit", "ignore", "ignore"] });
  }
  const restore = () => {
    if (raw) stdin.setRawMode(false);
  };
  // Also when something else ends this program: a terminal left raw is unusable.
  process.on("exit", restore);
  const resize = () => resizeTo(child, stdout);
  stdout.on("resize", resize);
  return () => {
    stdout.off("resize", resize);
    process.off("exit", restore);
    restore();
  };
}

/** Gives the process's terminal the size of ours. */
export function resizeTo(child: Process, stream: NodeJS.WriteStream): void {
  const { rows, cols } = terminalSize(stream);
  if (rows && cols) child.resize({ rows, cols }).catch(() => undefined);
}

/** After leaving a program that may be in the middle of a screen. */
export function showPlainScreen(): void {
  if (process.stdout.isTTY) process.stdout.write(PLAIN_SCREEN);
}
