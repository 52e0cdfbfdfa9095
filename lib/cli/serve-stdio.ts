// A server for the one program that started it, on stdin and stdout.
import type { ExecwireServer } from "../server/server.ts";
import { streamTransport } from "../transport/stream.ts";

/** Serves stdin and stdout, and tells when their other end is gone; returns how to let go of them. */
export function acceptStdio(server: ExecwireServer, frameBytes: number, onGone: () => void): () => void {
  const { stdin, stdout } = process;
  const transport = streamTransport(stdin, stdout, frameBytes);
  server.accept({
    listen: ({ frame, closed }) =>
      transport.listen({
        frame,
        closed(code, reason) {
          closed(code, reason);
          onGone();
        },
      }),
    send: (bytes, sent) => transport.send(bytes, sent),
    close: (code, reason) => transport.close(code, reason),
    terminate: () => transport.terminate(),
  });
  return () => {
    stdin.pause();
    stdin.unref?.();
  };
}
