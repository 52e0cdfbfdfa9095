// Texts for the model: how to use the tools, and the result of a call.
import { execText } from "../../exec/sessions/exec-text.ts";
import { redrawnLines } from "../../exec/sessions/redrawn-lines.ts";
import type { ExecResult, ExecSessionInfo } from "../../exec/sessions/session-types.ts";

/** How to use the tools together. */
export const INSTRUCTIONS = `Run commands, also those that take long, ask questions, or keep running.
exec_start starts a command and waits for it. If it ends in time, you get its exit code and output, and are done. If it is still
running, you get a sessionId: exec_poll waits for more output, exec_write sends input, exec_signal interrupts the command, and
exec_stop ends it with everything it started. Each result has only the output since the last one. Long output is shortened to its
beginning and its end; redirect it to a file if you need all of it. Stop sessions that you no longer need: servers, watchers, shells.`;

/** Descriptions of the tools. */
export const DESCRIPTIONS = {
  start:
    "Start a command and wait for it. Returns its output and exit code if it ends in time, else the output so far and a sessionId for exec_poll, exec_write, exec_signal and exec_stop.",
  write:
    "Write to a session that was started with tty or stdin, and return the output that follows: a line for a prompt or REPL, a password, Ctrl-C as the character U+0003 on a terminal.",
  poll: "Wait for new output of a session. Returns when the process ends or after yieldMs.",
  signal: "Send a signal to a session's process group, such as SIGINT if there is no terminal for Ctrl-C.",
  list: "List all sessions: which still run, how the others ended, and how many bytes of output are unread.",
  stop: "End a session's process with everything it started (SIGTERM, then SIGKILL), and return its last output.",
} as const;

/** A result as text. Its output is what a terminal would show in the end; `structuredContent` has every byte. */
export function resultText(result: ExecResult): string {
  const [head, tail] = [redrawnLines(result.head), redrawnLines(result.tail)];
  const output = execText({ ...result, head: head.text, tail: tail.text });
  const overwritten = head.overwritten + tail.overwritten;
  const title =
    overwritten > 0 ? `Output (without ${overwritten} characters that it has overwritten itself):` : "Output:";
  const lines = [stateText(result), inputText(result), output === "" ? "No new output." : title];
  return `${lines.filter((line) => line !== undefined).join("\n")}\n${output}`.trimEnd();
}

/** The list as text. */
export function listText(sessions: readonly ExecSessionInfo[]): string {
  if (sessions.length === 0) return "There are no sessions.";
  const lines = sessions.map(({ sessionId, state, exitCode, signal, unreadBytes, argv }) => {
    const end = state === "running" ? "" : ` ${signal ?? exitCode ?? ""}`.trimEnd();
    const unread = unreadBytes ? `, ${unreadBytes} bytes unread` : "";
    return `${sessionId}: ${state}${end}${unread}: ${argv.join(" ")}`;
  });
  return lines.join("\n");
}

function stateText({
  exited,
  exitCode,
  signal,
  reason,
  sandboxDenied,
  networkDenied,
  failure,
  sessionId,
  tookMs,
}: ExecResult): string {
  const took = `after ${(tookMs / 1000).toFixed(1)} s`;
  if (failure) return `Contact with the process was lost; its exit is not known. ${failure.code}: ${failure.message}`;
  if (!exited) {
    const next =
      sessionId === undefined ? "" : ` Session ${sessionId}: exec_poll waits for more output, exec_stop ends it.`;
    return `Still running ${took}.${next}`;
  }
  const how = signal !== null ? `Ended by ${signal}` : exitCode !== null ? `Exited with code ${exitCode}` : "Ended";
  const why = reason === "timeout" ? " after its timeout" : "";
  const denied = sandboxDenied ? " The sandbox is the likely cause." : "";
  const refused = networkDenied ? " The network policy refused a connection." : "";
  const rest =
    sessionId === undefined ? "" : ` A process it started still holds its output open: session ${sessionId} continues.`;
  return `${how}${why}.${denied}${refused}${rest}`;
}

function inputText({ input, exited }: ExecResult): string | undefined {
  if (input === "pending") return "The input is queued: the process is not reading at the moment.";
  if (input !== "stdinClosed") return undefined;
  return exited
    ? "The input was refused: the process has ended."
    : "The input was refused: start the command with tty or stdin to write to it.";
}
