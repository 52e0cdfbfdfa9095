// Our terminal and stdin, connected to the command's.
import { spawnSync } from "node:child_process";
import type { TerminalSize } from "../../protocol/index.ts";
import type { Process } from "../process/process.ts";

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
  const resize = () => {
    const { rows, cols } = terminalSize(stdout);
    if (rows && cols) child.resize({ rows, cols }).catch(() => undefined);
  };
  stdout.on("resize", resize);
  return () => {
    stdout.off("resize", resize);
    process.off("exit", restore);
    restore();
  };
}

/** Passes our stdin on, at the pace at which the command takes it, and its end as well; until undone. */
export function forwardStdin(child: Process): () => void {
  const { stdin } = process;
  const onData = (chunk: Buffer) => {
    stdin.pause();
    child.write(chunk).then(
      (status) => {
        if (status === "accepted") stdin.resume();
        else stop();
      },
      () => stop(),
    );
  };
  const onEnd = () => void child.closeStdin();
  const stop = () => {
    stdin.off("data", onData);
    stdin.off("end", onEnd);
    stdin.pause();
    // A paused terminal or pipe would keep this program alive for input that nobody wants.
    stdin.unref?.();
  };
  stdin.on("data", onData);
  stdin.on("end", onEnd);
  return stop;
}
