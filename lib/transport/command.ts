// A connection through the stdin and stdout of a program, such as `ssh host execwire serve --listen stdio`. Node only.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { streamTransport } from "./stream.ts";
import type { OpenTransport } from "./transport.ts";

/** Starts the program for each connection and ends it with that; its stderr is ours. */
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
            // The program should exit when its stdin ends; SIGTERM is for one that does not.
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
