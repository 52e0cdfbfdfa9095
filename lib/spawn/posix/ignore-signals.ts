// Ignores signals in this program without a listener, so that its children inherit that.
import koffi from "koffi";

const SIG_IGN = 1;

/** signal(2), SIG_IGN, for each of these numbers. Throws if the C library cannot be called. */
export function ignoreSignals(signals: readonly number[]): void {
  const ignore = koffi.load(null).func("intptr_t signal(int signal, intptr_t handler)");
  for (const signal of signals) ignore(signal, SIG_IGN);
}
