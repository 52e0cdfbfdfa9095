// Decides when a server shuts down: on a signal, or when the program that started it ends.

import { isHeeded } from "../ignored-signals.ts";
import { exitSoon } from "../output.ts";

/** The second signal exits at once. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Whether an environment variable enables something: set, and not empty, `0` or `false`. */
export function isSet(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false"].includes(value.trim().toLowerCase());
}

/** Listens for SIGINT, SIGTERM and SIGHUP from its construction on. */
export class ShutdownSignal {
  /** Resolves with the first reason to shut down. */
  readonly requested: Promise<string>;
  #resolve!: (reason: string) => void;
  #signals = 0;
  #watchesStdin = false;

  constructor() {
    this.requested = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    for (const signal of SIGNALS.filter(isHeeded)) process.on(signal, this.#onSignal);
  }

  /** Requests the shutdown; only the first reason counts. */
  request(reason: string): void {
    this.#resolve(reason);
  }

  /** Also shuts down at the end of stdin. The parent holds the other end, so this happens however the parent ends. */
  watchStdin(): void {
    this.#watchesStdin = true;
    const { stdin } = process;
    const onEnd = () => this.request("stdin was closed");
    stdin.on("end", onEnd).on("close", onEnd).on("error", onEnd);
    stdin.resume();
  }

  /** Stops listening, at the end of the program. A client that reads no more does not hold it up. */
  release(): void {
    exitSoon();
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
    if (!this.#watchesStdin) return;
    process.stdin.pause();
    process.stdin.unref?.();
  }

  readonly #onSignal = (signal: string) => {
    this.#signals += 1;
    // When the program exits, the supervisor kills all remaining processes.
    if (this.#signals > 1) process.exit(0);
    this.request(signal);
  };
}
