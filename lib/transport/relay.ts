// Copies the frames of two connections to each other. What one side does not take is not read from the other.
import type { Transport } from "./transport.ts";

/** Above this many bytes on their way to one side, the other is not read; below half of it, it is read again. */
const MAX_WAITING_BYTES = 256 * 1024;
/** What a frame costs beside its bytes. */
const FRAME_BYTES = 1024;

/** Codes that stand for the absence of a closing handshake, and cannot be sent (RFC 6455, 7.4.1). */
const NOT_SENT: readonly number[] = [1005, 1006, 1015];

/** Which side ended the connection, and how. */
export interface RelayEnd {
  readonly side: "near" | "far";
  readonly code: number;
  readonly reason: string;
}

/** Relays until both connections are closed; the end of one ends the other in the same way. */
export async function relay(near: Transport, far: Transport): Promise<RelayEnd> {
  let first: RelayEnd | undefined;
  const forward = (side: RelayEnd["side"], from: Transport, to: Transport) =>
    new Promise<void>((resolve) => {
      let waitingBytes = 0;
      from.listen({
        frame(frame) {
          const bytes = frame.length + FRAME_BYTES;
          waitingBytes += bytes;
          // A copy: the frame may be valid only during this call.
          to.send(Uint8Array.from(frame), () => {
            waitingBytes -= bytes;
            if (waitingBytes <= MAX_WAITING_BYTES / 2) from.resume?.();
          });
          if (waitingBytes > MAX_WAITING_BYTES) from.pause?.();
        },
        closed(code, reason) {
          first ??= { side, code, reason };
          if (NOT_SENT.includes(code)) to.terminate();
          else to.close(code, reason);
          resolve();
        },
      });
    });
  await Promise.all([forward("near", near, far), forward("far", far, near)]);
  return first as unknown as RelayEnd;
}
