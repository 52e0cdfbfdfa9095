// A server for the one program that started it, on stdin and stdout.
import type { ExecwireServer } from "../server/server.ts";
import { peekFirstByte } from "../transport/first-byte.ts";
import { lineTransport } from "../transport/lines.ts";
import { streamTransport } from "../transport/stream.ts";
import type { Transport } from "../transport/transport.ts";

/** The prefix of our own frames begins with 0 or 1, since a frame has 16 MiB at most; text never does. */
const LAST_BYTE_OF_OURS = 1;

/** A line of the dialect at most. */
const LINE_BYTES = 64 * 1024 * 1024;

/**
 * Serves stdin and stdout in the language that the first byte shows, and tells when their other end is gone; returns how
 * to let go of them.
 */
export function acceptStdio(server: ExecwireServer, frameBytes: number, onGone: () => void): () => void {
  const { stdin, stdout } = process;
  void peekFirstByte(stdin).then((first) => {
    if (first === undefined) return onGone();
    const isOurs = first <= LAST_BYTE_OF_OURS;
    if (isOurs) server.accept(watched(streamTransport(stdin, stdout, frameBytes), onGone));
    else server.acceptDialect(watched(lineTransport(stdin, stdout, LINE_BYTES), onGone));
    // Paused by the look at the first byte, it would stay so.
    stdin.resume();
  });
  return () => {
    stdin.pause();
    stdin.unref?.();
  };
}

/** The same transport, whose end is told to somebody else as well. */
function watched(transport: Transport, onClosed: () => void): Transport {
  return {
    listen: ({ closed, ...handlers }) =>
      transport.listen({
        ...handlers,
        closed(code, reason) {
          closed(code, reason);
          onClosed();
        },
      }),
    send: (bytes, sent) => transport.send(bytes, sent),
    limitFrames: (bytes) => transport.limitFrames?.(bytes),
    pause: () => transport.pause?.(),
    resume: () => transport.resume?.(),
    unsentBytes: () => transport.unsentBytes?.() ?? 0,
    close: (code, reason) => transport.close(code, reason),
    terminate: () => transport.terminate(),
  };
}
