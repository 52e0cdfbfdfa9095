// All a mailbox is: messages are handled one at a time, to completion, in the order they were posted.

/**
 * Calls `handle` for each posted message. A message posted while another is handled waits for its turn, also when it is
 * posted by the handler itself. The handler must not await: whatever takes time happens elsewhere and comes back as a
 * message. What it throws is a bug and goes to `onError`; the mailbox goes on.
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
    // The first message needs no queue: this is the path of every chunk of output.
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
      // Whoever is told of errors has one itself: there is nobody left to tell, and the mailbox must go on.
    }
  }
}
