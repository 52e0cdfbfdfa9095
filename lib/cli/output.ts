// Writes a process's output to ours, without loss: the process waits for our reader.
import type { ExitedEvent } from "../../protocol/index.ts";
import type { Process } from "../process/process.ts";

/** Our own stdout or stderr cannot be written any more. */
export class OutputError extends Error {
  readonly code: string;

  constructor(name: string, cause: NodeJS.ErrnoException) {
    super(`cannot write to ${name}: ${cause.message}`, { cause });
    this.code = cause.code ?? "UNKNOWN";
  }
}

/** A slow reader is alive as long as we are: the lease of the process's pause is renewed this often. */
const RENEW_MS = 10_000;

/** Copies everything until the process is closed; resolves with its exit. Rejects with OutputError. */
export async function writeAll(child: Process): Promise<ExitedEvent | undefined> {
  const events = child.iterate({ delivery: "lossless" });
  const renewal = setInterval(() => events.renew(), RENEW_MS);
  const watched = [process.stdout, process.stderr];
  // Each write tells its own error; without a listener the event would end the program with a stack trace.
  const ignore = () => undefined;
  for (const stream of watched) stream.on("error", ignore);
  let exit: ExitedEvent | undefined;
  try {
    for await (const event of events) {
      if (event.type === "exited") exit = event;
      if (event.type === "gap") process.stderr.write(`execwire: ${event.bytes ?? "some"} bytes of output were lost\n`);
      if (event.type !== "output") continue;
      const [stream, name] =
        event.stream === "stderr" ? ([process.stderr, "stderr"] as const) : ([process.stdout, "stdout"] as const);
      await write(stream, name, event.chunk);
    }
  } finally {
    clearInterval(renewal);
    for (const stream of watched) stream.off("error", ignore);
  }
  return exit;
}

function write(stream: NodeJS.WriteStream, name: string, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(chunk, (error) => (error ? reject(new OutputError(name, error)) : resolve()));
  });
}
