// The input of one child: a bounded queue in front of its stdin. When it is full, writes are parked here, in order, so that no
// other command of the process (a signal, a resize) waits behind them.
//
// Invariants
// 1. Bytes reach the child in the order in which their writes were posted.
// 2. A write id is remembered in the same turn in which its bytes enter the queue; a parked write is not accepted yet.
// 3. A write is refused before any of its bytes was delivered, or not at all. A terminal in canonical mode drops what exceeds
//    its line, and the program can change the mode at any time. So a write that may be too long waits until it is next in the
//    queue and is then checked against the current mode. A later change of mode cannot be taken into account.
// 4. No error of the pipe escapes: when a child has stopped reading, later writes are answered with `stdinClosed`.
import type { Limits, WriteStatus } from "../../protocol/index.ts";
import type { ExecwireError } from "../errors.ts";
import type { WriteLedger } from "../host/write-ledger.ts";
import { tooManyBytesWaiting } from "../process/refusals.ts";
import type { ChildStdin } from "../spawn/child.ts";
import type { Reply } from "./message.ts";

/** Limits of a queue. */
export type StdinLimits = Pick<Limits, "stdinQueueBytes" | "stdinParkedBytes">;

/** Counters shared by all queues that were given them. */
export interface StdinCounts {
  /** Bytes that the kernel has accepted. */
  readonly bytes: { stdin: number };
  /** Retried writes that were acknowledged without being delivered again. */
  duplicates: number;
}

/** Bytes to write, or the end of the input. */
interface Entry {
  readonly chunk: Uint8Array | "end";
  readonly writeId: string | undefined;
  readonly reply: Reply<WriteStatus>;
}

/** Feeds a child's stdin one chunk at a time. All methods are called from the actor's handler. */
export class StdinQueue {
  readonly #stdin: ChildStdin;
  readonly #ledger: WriteLedger;
  readonly #limits: StdinLimits;
  readonly #counts: StdinCounts | undefined;
  /** Called when the kernel accepted or refused a chunk; must come back as `written` in a later turn. */
  readonly #onWritten: (error?: Error) => void;
  readonly #queue: (Uint8Array | "end")[] = [];
  readonly #parked: Entry[] = [];
  #queuedBytes = 0;
  #parkedBytes = 0;
  #writing = false;
  /** `closeStdin` was called: no further write is accepted. */
  #ending = false;
  /** The child cannot be written to any more. */
  #broken = false;

  constructor(
    stdin: ChildStdin,
    ledger: WriteLedger,
    limits: StdinLimits,
    onWritten: (error?: Error) => void,
    counts?: StdinCounts,
  ) {
    this.#stdin = stdin;
    this.#ledger = ledger;
    this.#limits = limits;
    this.#onWritten = onWritten;
    this.#counts = counts;
  }

  write(chunk: Uint8Array, writeId: string | undefined, reply: Reply<WriteStatus>): void {
    this.#submit({ chunk, writeId, reply }, this.#ending);
  }

  end(reply: Reply<WriteStatus>): void {
    // Idempotent: the end is queued already.
    if (this.#ending && !this.#broken) return reply.resolve("accepted");
    this.#ending = true;
    this.#submit({ chunk: "end", writeId: undefined, reply }, false);
  }

  /** The kernel accepted the first chunk, or refused it with an error. */
  written(error: Error | undefined): void {
    this.#writing = false;
    if (error) return this.break();
    const chunk = this.#queue.shift();
    if (chunk instanceof Uint8Array) {
      this.#queuedBytes -= chunk.length;
      if (this.#counts) this.#counts.bytes.stdin += chunk.length;
    }
    while (this.#parked[0] && this.#canEnqueue(this.#parked[0])) this.#enqueue(this.#unpark());
    this.#pump();
  }

  /** The child has exited or closed its stdin: parked writes are answered, queued bytes are dropped. */
  break(): void {
    this.#broken = true;
    this.#queue.length = 0;
    this.#queuedBytes = 0;
    for (const { reply } of this.#parked.splice(0)) reply.resolve("stdinClosed");
    this.#parkedBytes = 0;
  }

  #submit(entry: Entry, refused: boolean): void {
    if (this.#answersRetry(entry)) return;
    if (this.#broken || refused) return entry.reply.resolve("stdinClosed");
    // Invariant 1: even a small write waits behind a large one that is parked.
    if (this.#parked.length > 0 || !this.#canEnqueue(entry)) return this.#park(entry);
    this.#enqueue(entry);
    this.#pump();
  }

  /** Bounded, because a writer that does not wait for replies could park writes without end. */
  #park(entry: Entry): void {
    const bytes = entry.chunk === "end" ? 0 : entry.chunk.length;
    if (this.#parked.length > 0 && this.#parkedBytes + bytes > this.#limits.stdinParkedBytes) {
      return entry.reply.reject(tooManyBytesWaiting());
    }
    this.#parkedBytes += bytes;
    this.#parked.push(entry);
  }

  #unpark(): Entry {
    const entry = this.#parked.shift() as Entry;
    if (entry.chunk !== "end") this.#parkedBytes -= entry.chunk.length;
    return entry;
  }

  #enqueue(entry: Entry): void {
    // Of two writes with one id, the first may have entered the queue while the second was parked.
    if (this.#answersRetry(entry)) return;
    const { chunk, writeId, reply } = entry;
    // Invariant 3. With writes queued before it, `#canEnqueue` has already checked this.
    const refusal = this.#queue.length === 0 ? this.#refusalOf(chunk) : undefined;
    if (refusal) return reply.reject(refusal);
    if (chunk !== "end" && chunk.length > 0) this.#stdin.line?.reserve(chunk);
    if (chunk.length > 0) this.#queue.push(chunk);
    if (chunk !== "end") this.#queuedBytes += chunk.length;
    if (writeId !== undefined && chunk !== "end") this.#ledger.remember(writeId, chunk);
    reply.resolve("accepted");
  }

  /** Answers a write whose id was accepted before, with an acknowledgement or a conflict. */
  #answersRetry({ chunk, writeId, reply }: Entry): boolean {
    if (writeId === undefined || chunk === "end") return false;
    try {
      if (!this.#ledger.knows(writeId, chunk)) return false;
      if (this.#counts) this.#counts.duplicates += 1;
      reply.resolve("accepted");
    } catch (error) {
      reply.reject(error);
    }
    return true;
  }

  /** Whether the entry can be queued now. The end, a retry, and a write larger than the queue once it is empty need no room. */
  #canEnqueue({ chunk, writeId }: Entry): boolean {
    if (writeId !== undefined && this.#ledger.has(writeId)) return true;
    if (chunk === "end" || this.#queue.length === 0) return true;
    return this.#queuedBytes + chunk.length <= this.#limits.stdinQueueBytes && !this.#refusalOf(chunk);
  }

  #refusalOf(chunk: Entry["chunk"]): ExecwireError | undefined {
    return chunk === "end" ? undefined : this.#stdin.line?.truncationError(chunk);
  }

  #pump(): void {
    const chunk = this.#queue[0];
    if (this.#writing || chunk === undefined) return;
    if (chunk === "end") {
      this.#queue.shift();
      this.#stdin.end();
      return;
    }
    this.#writing = true;
    this.#stdin.write(chunk, this.#onWritten);
  }
}
