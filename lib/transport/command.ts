// A connection through the stdin and stdout of a program, such as `ssh host execwire serve --listen stdio`. Node only.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { oneLine } from "../errors.ts";
import { streamTransportAfterText } from "./stream.ts";
import type { OpenTransport } from "./transport.ts";

/** Bytes of what the program printed that an error shows. */
const SHOWN_BYTES = 300;
/** How long a program whose stdout has ended may take to exit, so that its exit code is known. */
const EXIT_MS = 500;

/** Starts the program for each connection and ends it with that; its stderr is ours. */
export function openCommand(command: readonly string[], frameBytes: number): OpenTransport {
  return async () => {
    const [file = "", ...args] = command;
    const child = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
    await once(child, "spawn");
    child.on("error", () => undefined);
    const text: Buffer[] = [];
    let textBytes = 0;
    const transport = streamTransportAfterText(child.stdout, child.stdin, frameBytes, (piece) => {
      if (textBytes < SHOWN_BYTES) text.push(piece);
      textBytes += piece.length;
    });
    return {
      listen: ({ frame, closed }) =>
        transport.listen({
          frame,
          async closed(code, reason) {
            // The stream ended without a closing record: the program says why, by its exit and what it printed.
            const end = code === 1006 ? await describeEnd(child, file) : "";
            // Its last words, if writing to it has failed before they were read.
            const rest = textBytes === 0 && code === 1006 ? (child.stdout.read() as Buffer | null) : null;
            const printed = oneLine(
              Buffer.concat(rest ? [rest] : text)
                .toString()
                .slice(0, SHOWN_BYTES),
              "; ",
            );
            // The program should exit when its stdin ends; SIGTERM is for one that does not.
            child.kill();
            child.stdin.destroy();
            child.stdout.destroy();
            closed(code, [end || reason, printed && `it printed: ${printed}`].filter(Boolean).join("; "));
          },
        }),
      send: (frame, sent) => transport.send(frame, sent),
      pause: () => transport.pause?.(),
      resume: () => transport.resume?.(),
      close: (code, reason) => transport.close(code, reason),
      terminate: () => transport.terminate(),
    };
  };
}

async function describeEnd(child: ChildProcess, file: string): Promise<string> {
  if (child.exitCode === null && child.signalCode === null) {
    const timeout = AbortSignal.timeout(EXIT_MS);
    await once(child, "exit", { signal: timeout }).catch(() => undefined);
  }
  const { exitCode, signalCode } = child;
  if (signalCode !== null) return `${file} was ended by ${signalCode}`;
  if (exitCode === null) return "";
  // ssh reserves this code for its own failures.
  const hint = exitCode === 255 ? " (with ssh: it could not connect, or lost the connection)" : "";
  return `${file} exited with ${exitCode}${hint}`;
}
