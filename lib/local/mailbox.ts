// A mailbox: messages are handled one at a time, to completion, in the order in which they were posted.

/**
 * Calls `handle` for each posted message. A message posted while another one is handled waits, even if the handler itself posts
 * it. The handler must not await: asynchronous work happens elsewhere and reports back by a message. An error that it throws
 * is a bug and goes to `onError`; the mailbox continues with the next message.
 */
export class Mailbox<Message> {
  readonly #handle: (message: Message) => void;
  readonly #onError: (error: unknown, message: Message) => void;
  readonly #queue: Message[] = [];
  #busy = false;

  constructor(handle: (message: Message) => void, onError: (error: unknown, message: Message) => void) {
    this.#handle = handle;
    this.#onError = onError;
  }

  post(message: Message): void {
    if (this.#busy) {
      this.#queue.push(message);
      return;
    }
    this.#busy = true;
    // The first message skips the queue: every chunk of output takes this path.
    for (let next: Message | undefined = message; next !== undefined; next = this.#queue.shift()) {
      try {
        this.#handle(next);
      } catch (error) {
        this.#report(error, next);
      }
    }
    this.#busy = false;
  }

  #report(error: unknown, message: Message): void {
    try {
      this.#onError(error, message);
    } catch {
      // The error handler failed too: nothing is left to report to, and the mailbox must continue.
    }
  }
}
