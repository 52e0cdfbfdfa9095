// The messages that a file helper prints: a line with the kind and the number of bytes, then the bytes.

/** The answer to the request, its error, or a notification for the client. */
export type HelperMessageKind = "result" | "error" | "notify";

/** Cuts a stream of bytes into messages, without copying a long one more than once. */
export class HelperMessages {
  readonly #onMessage: (kind: HelperMessageKind, json: Buffer) => void;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  /** The message whose bytes are awaited. */
  #next: { readonly kind: HelperMessageKind; readonly bytes: number } | undefined;

  constructor(onMessage: (kind: HelperMessageKind, json: Buffer) => void) {
    this.#onMessage = onMessage;
  }

  /** Throws for what is not a message: nothing that follows it can be understood. */
  add(chunk: Uint8Array): void {
    this.#kept.push(Buffer.from(chunk));
    this.#keptBytes += chunk.length;
    while (this.#next ? this.#takeMessage(this.#next) : this.#takeHead());
  }

  #takeHead(): boolean {
    const kept = this.#join();
    const end = kept.indexOf("\n");
    if (end < 0) return false;
    const [, kind, bytes] = /^(result|error|notify) (\d{1,10})$/.exec(kept.toString("latin1", 0, end)) ?? [];
    if (kind === undefined) throw new Error("the file helper printed what is not a message");
    this.#keep(kept.subarray(end + 1));
    this.#next = { kind: kind as HelperMessageKind, bytes: Number(bytes) };
    return true;
  }

  #takeMessage({ kind, bytes }: { readonly kind: HelperMessageKind; readonly bytes: number }): boolean {
    if (this.#keptBytes < bytes) return false;
    const kept = this.#join();
    this.#next = undefined;
    this.#keep(kept.subarray(bytes));
    this.#onMessage(kind, kept.subarray(0, bytes));
    return true;
  }

  #join(): Buffer {
    return this.#kept.length === 1 ? (this.#kept[0] as Buffer) : Buffer.concat(this.#kept);
  }

  #keep(rest: Buffer): void {
    this.#kept = rest.length === 0 ? [] : [rest];
    this.#keptBytes = rest.length;
  }
}
