// Shared by the checks of process/read.
import { text } from "../observe.mjs";

/** The answer of process/read, with its chunks as one line each. */
export function readable({ chunks, ...rest }) {
  return { chunks: chunks.map(({ seq, stream, chunk }) => `${seq} ${stream} ${text(chunk)}`), ...rest };
}
