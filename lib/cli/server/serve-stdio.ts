// Serves one client, the program that started this one, on stdin and stdout: from this program, or from another server.
import { SUBPROTOCOL } from "../../../protocol/index.ts";
import { withDefaults } from "../../limits.ts";
import type { ExecwireServer } from "../../server/server.ts";
import { peekFirstByte } from "../../transport/first-byte.ts";
import { lineTransport } from "../../transport/lines.ts";
import { type RelayEnd, relay } from "../../transport/relay.ts";
import { streamTransport } from "../../transport/stream.ts";
import type { Transport } from "../../transport/transport.ts";
import { openTextSocket, openWebSocket } from "../../transport/websocket/websocket-client.ts";
import type { RuntimeFile } from "./runtime-directory.ts";
import { readTokenFile } from "./token-file.ts";

/** The length prefix of our own frames begins with 0 or 1, since a frame has at most 16 MiB; text never does. */
const MAX_FIRST_FRAME_BYTE = 1;

/** The longest line of the dialect. */
const LINE_BYTES = 64 * 1024 * 1024;

/**
 * Serves stdin and stdout in the protocol that the first byte indicates, and calls `onGone` when the client is gone. The returned
 * function releases stdin.
 */
export function acceptStdio(server: ExecwireServer, frameBytes: number, onGone: () => void): () => void {
  const { stdin, stdout } = process;
  void peekFirstByte(stdin).then((first) => {
    if (first === undefined) return onGone();
    const isFrame = first <= MAX_FIRST_FRAME_BYTE;
    if (isFrame) server.accept(onceClosed(streamTransport(stdin, stdout, frameBytes), onGone));
    else server.acceptDialect(onceClosed(lineTransport(stdin, stdout, LINE_BYTES), onGone));
    // `peekFirstByte` left it paused.
    stdin.resume();
  });
  return () => {
    stdin.pause();
    stdin.unref?.();
  };
}

/**
 * Connects stdin and stdout to a published server, with its token: the client needs none. Resolves when one side has ended the
 * connection; undefined if there was no client.
 */
export async function relayStdio({ url, tokenFile }: RuntimeFile): Promise<RelayEnd | undefined> {
  const { stdin, stdout } = process;
  const bounds = withDefaults();
  const first = await peekFirstByte(stdin);
  if (first === undefined) return undefined;
  try {
    const token = tokenFile === undefined ? undefined : readTokenFile(tokenFile);
    const isFrame = first <= MAX_FIRST_FRAME_BYTE;
    const open = isFrame ? openWebSocket(url, SUBPROTOCOL, bounds, token) : openTextSocket(url, token, bounds);
    const far = await open();
    const ended = relay(
      isFrame ? streamTransport(stdin, stdout, bounds.frameBytes) : lineTransport(stdin, stdout, LINE_BYTES),
      far,
    );
    stdin.resume();
    return await ended;
  } finally {
    // Open, it would keep a relay that has failed running, and its client waiting.
    stdin.destroy();
  }
}

/** The same transport, which also calls `onClosed` when it is closed. */
function onceClosed(transport: Transport, onClosed: () => void): Transport {
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
