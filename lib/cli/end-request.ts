// When a server is to end: a signal, or the end of the program that started it.

/** The second one does not wait for anything. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Whether a variable of the environment says yes. */
export function isSet(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false"].includes(value.trim().toLowerCase());
}

/** Resolves once, with the reason. */
export class EndRequest {
  readonly requested: Promise<string>;
  #resolve!: (reason: string) => void;
  #signals = 0;
  #watchesStdin = false;

  constructor() {
    this.requested = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** Asks for the end; only the first reason counts. */
  request(reason: string): void {
    this.#resolve(reason);
  }

  /** The end of stdin is a reason too: its other end is held by who started us, however that ends. */
  watchStdin(): void {
    this.#watchesStdin = true;
    const { stdin } = process;
    const onEnd = () => this.request("stdin was closed");
    stdin.on("end", onEnd).on("close", onEnd).on("error", onEnd);
    stdin.resume();
  }

  /** Nobody waits any more. */
  release(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
    if (!this.#watchesStdin) return;
    process.stdin.pause();
    process.stdin.unref?.();
  }

  readonly #onSignal = (signal: string) => {
    this.#signals += 1;
    // The supervisor kills what is left when the program exits.
    if (this.#signals > 1) process.exit(0);
    this.request(signal);
  };
}
