// What a client has received. The dialect has no acknowledgement, but a pong answers a ping that came after everything
// sent before it: its position then needs to be kept no longer for a client that may have to come back.
import type { Seq } from "../../../protocol/index.ts";

/** A ping a quarter of a MiB: often enough to keep little, seldom enough to cost nothing. */
const PING_EVERY_BYTES = 256 * 1024;
/** Pings without an answer; beyond it the client is one that never answers, and is believed to read. */
const MAX_UNANSWERED = 64;

/** Somebody who wants to know up to which seq its events were received. */
export interface Sender {
  readonly sentSeq: Seq;
  received(seq: Seq): void;
}

interface Mark {
  readonly sign: number;
  readonly positions: readonly (readonly [Sender, Seq])[];
}

/** Turns pongs into positions. */
export class Receipts {
  readonly #ping: (sign: number) => void;
  readonly #senders = new Set<Sender>();
  readonly #marks: Mark[] = [];
  #bytes = 0;
  #lastSign = 0;

  constructor(ping: (sign: number) => void) {
    this.#ping = ping;
  }

  /** A sender has sent something. */
  sent(sender: Sender, bytes: number): void {
    this.#senders.add(sender);
    this.#bytes += bytes;
    if (this.#bytes >= PING_EVERY_BYTES) this.ask();
  }

  /** Asks now. */
  ask(): void {
    this.#lastSign += 1;
    this.#marks.push({
      sign: this.#lastSign,
      positions: [...this.#senders].map((sender) => [sender, sender.sentSeq] as const),
    });
    this.#senders.clear();
    this.#bytes = 0;
    this.#ping(this.#lastSign);
    if (this.#marks.length > MAX_UNANSWERED) this.#settle(this.#marks.shift() as Mark);
  }

  /** The answer to a ping, and to all before it. */
  answered(sign: number): void {
    while (this.#marks[0] && this.#marks[0].sign <= sign) this.#settle(this.#marks.shift() as Mark);
  }

  #settle({ positions }: Mark): void {
    for (const [sender, seq] of positions) sender.received(seq);
  }
}
