// Connects our terminal to the command's.
import { spawnSync } from "node:child_process";
import type { TerminalSize } from "../../../protocol/index.ts";
import type { Process } from "../../process/process.ts";

/** Resets the modes of a full-screen program: hidden cursor, alternate screen, bracketed paste, mouse reports. */
const PLAIN_SCREEN = "\x1b[?25h\x1b[?1049l\x1b[?2004l\x1b[?1000l\x1b[?1006l";

/** The size of our terminal; empty if the stream is not a terminal. */
export function terminalSize(stream: NodeJS.WriteStream): Partial<TerminalSize> {
  return stream.isTTY && stream.rows > 0 && stream.columns > 0 ? { rows: stream.rows, cols: stream.columns } : {};
}

/** Sets raw mode, so that every key reaches the command, and forwards our terminal's size. The returned function undoes both. */
export function connectTerminal(child: Process, interactive: boolean): () => void {
  const { stdin, stdout } = process;
  const raw = interactive && stdin.isTTY;
  if (raw) {
    stdin.setRawMode(true);
    // Node leaves output processing on: each \n, which the command's terminal has already turned into \r\n, would get another \r.
    spawnSync("stty", ["-opost"], { stdio: ["inherit", "ignore", "ignore"] });
  }
  const restore = () => {
    if (raw) stdin.setRawMode(false);
  };
  // Also restore it when the program exits early: a terminal left in raw mode is unusable.
  process.on("exit", restore);
  const resize = () => resizeTo(child, stdout);
  stdout.on("resize", resize);
  return () => {
    stdout.off("resize", resize);
    process.off("exit", restore);
    restore();
  };
}

/** Resizes the process's terminal to the size of ours. */
export function resizeTo(child: Process, stream: NodeJS.WriteStream): void {
  const { rows, cols } = terminalSize(stream);
  if (rows && cols) child.resize({ rows, cols }).catch(() => undefined);
}

/** Resets our terminal after detaching from a program that may use the full screen. */
export function showPlainScreen(): void {
  if (process.stdout.isTTY) process.stdout.write(PLAIN_SCREEN);
}
