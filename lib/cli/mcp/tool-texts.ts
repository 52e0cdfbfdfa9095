// What the tools say: to teach a model how to use them, and what has come of a call.
import { execText } from "../../exec/exec-text.ts";
import type { ExecResult, ExecSessionInfo } from "../../exec/session-types.ts";

/** How the tools work together. */
export const INSTRUCTIONS = `Run commands that may take long, ask questions, or stay.
exec_start runs one and waits for it. If it ends in time you get its exit code and output, and are done. If it goes on you get a
sessionId: exec_poll waits for more, exec_write types into it, exec_signal interrupts it, exec_stop ends it with all it started.
Each answer has only what is new since the last one. Of long output you get the beginning and the end; redirect it into a file if
you need all of it. Stop what you no longer need: servers, watchers, shells.`;

/** What each tool is for. */
export const DESCRIPTIONS = {
  start:
    "Start a command and wait for it. Answers with its output and exit code when it ends in time, else with the output so far and a sessionId for exec_poll, exec_write, exec_signal and exec_stop.",
  write:
    "Type into a session that was started with tty or stdin, and answer with what comes of it: a line for a prompt or REPL, a password, Ctrl-C as the character U+0003 on a terminal.",
  poll: "Wait for new output or the end of a session. Answers when it ends or yieldMs is over.",
  signal: "Send a signal to a session's process group, such as SIGINT where there is no terminal for Ctrl-C.",
  list: "All sessions: which still run, how the others ended, and how many bytes of output were not read yet.",
  stop: "End a session's process with everything it started (SIGTERM, then SIGKILL), and return its last output.",
} as const;

/** An answer in words. */
export function resultText(result: ExecResult): string {
  const output = execText(result);
  const lines = [stateText(result), inputText(result), output === "" ? "No new output." : "Output:"];
  return `${lines.filter((line) => line !== undefined).join("\n")}\n${output}`.trimEnd();
}

/** The list in words. */
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
  failure,
  sessionId,
  tookMs,
}: ExecResult): string {
  const took = `after ${(tookMs / 1000).toFixed(1)} s`;
  if (failure)
    return `Contact with the process was lost, how it ended is not known. ${failure.code}: ${failure.message}`;
  if (!exited) {
    const next = sessionId === undefined ? "" : ` Session ${sessionId}: exec_poll waits for more, exec_stop ends it.`;
    return `Still running ${took}.${next}`;
  }
  const how = signal !== null ? `Ended by ${signal}` : exitCode !== null ? `Exited with code ${exitCode}` : "Ended";
  const why = reason === "timeout" ? " since its time was over" : "";
  const denied = sandboxDenied ? " The sandbox is the likely cause." : "";
  const rest = sessionId === undefined ? "" : ` Something it started holds its output: session ${sessionId} goes on.`;
  return `${how}${why}.${denied}${rest}`;
}

function inputText({ input, exited }: ExecResult): string | undefined {
  if (input === "pending") return "The input waits: the process does not read at the moment.";
  if (input !== "stdinClosed") return undefined;
  return exited
    ? "The input was refused: the process has ended."
    : "The input was refused: start the command with tty or stdin to write to it.";
}
