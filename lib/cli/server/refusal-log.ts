// Reports to the user of a server which connections it refuses: one line each, without tokens. Anyone may try, so only a few are shown
// in a time.
import { say } from "../report.ts";

const SHOWN = 10;
const WITHIN_MS = 10_000;

/** Receives refusals; see `ServeOptions.onRefused`. */
export class RefusalLog {
  readonly #shown: number;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  /** With `isVerbose`, it shows all. */
  constructor(isVerbose = false) {
    this.#shown = isVerbose ? Number.POSITIVE_INFINITY : SHOWN;
  }

  readonly add = (code: number, reason: string): void => {
    this.#count += 1;
    if (this.#count <= this.#shown) say(`refused a connection: ${reason} (${code})`);
    this.#timer ??= setTimeout(() => this.#next(), WITHIN_MS).unref();
  };

  #next(): void {
    if (this.#count > this.#shown) say(`refused ${this.#count - this.#shown} more connections`);
    this.#count = 0;
    this.#timer = undefined;
  }
}
