// A connection through the stdin and stdout of a program, such as `ssh host execwire serve --listen stdio`. Node only.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { streamTransport } from "./stream.ts";
import type { OpenTransport } from "./transport.ts";

/** A way to start the program and talk to it. It is ended with its connection; its stderr is ours. */
export function openCommand(command: readonly string[], frameBytes: number): OpenTransport {
  return async () => {
    const [file = "", ...args] = command;
    const child = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
    await once(child, "spawn");
    child.on("error", () => undefined);
    const transport = streamTransport(child.stdout, child.stdin, frameBytes);
    return {
      listen: ({ frame, closed }) =>
        transport.listen({
          frame,
          closed(code, reason) {
            // It ends by itself when its stdin does; one that does not is of no use any more.
            child.kill();
            closed(code, reason);
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
