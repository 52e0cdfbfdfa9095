// The first byte of a byte stream shows which protocol the peer uses. Node only.
import type { Readable } from "node:stream";

/** The first byte, left in the stream; undefined when the stream ends without one. */
export function peekFirstByte(input: Readable): Promise<number | undefined> {
  return new Promise((resolve) => {
    const settle = (byte: number | undefined) => {
      input.off("data", onData).off("end", onEnd).off("close", onEnd).off("error", onEnd);
      input.pause();
      resolve(byte);
    };
    const onData = (chunk: Buffer) => {
      settle(chunk[0]);
      input.unshift(chunk);
    };
    const onEnd = () => settle(undefined);
    input.on("data", onData).once("end", onEnd).once("close", onEnd).once("error", onEnd);
  });
}
