// What a connection has handed to its socket and the kernel has not taken yet. There is no queue of frames beside the
// socket's own: while it is full, subscriptions do not ask their cursors, answers are not made, and a peer that goes on
// asking is not read.
//
// Invariants
// 1. A frame is charged its bytes and `frameOverheadBytes`, here and to the pool, until it has left.
// 2. While replies fill their bound, or the pool is exhausted, nothing is read from the peer.
// 3. Answers that wait are made in their order, one at a time, each only when there is room.
// 4. What running requests hold is charged to the same pool: a peer has its share for both.
import type { Transport } from "../transport/transport.ts";
import type { MemoryPool, PoolMember } from "./memory-pool.ts";

/** Bounds of an outbox. */
export interface OutboxLimits {
  /** Above it subscriptions wait. */
  readonly outboxBytes: number;
  /** Replies; above it the peer is not read. */
  readonly outboxReplyBytes: number;
  /** Everything; beyond it the connection ends. */
  readonly outboxMaxBytes: number;
  readonly frameOverheadBytes: number;
}

/** What becomes of an outbox. */
export interface OutboxOwner {
  /** There is room again for events after there was none. */
  onRoom(): void;
  /** More than `outboxMaxBytes` wait. */
  onOverflow(): void;
  /** The peer took nothing for too long. */
  onStalled(): void;
}

/** Counts what is in flight on one connection. */
export class Outbox implements PoolMember {
  readonly #transport: Transport;
  readonly #limits: OutboxLimits;
  readonly #owner: OutboxOwner;
  /** Whether events that wait are a reason to call the peer stalled. */
  readonly #eventsCanStall: boolean;
  readonly #answers: (() => void)[] = [];
  #pool: MemoryPool | undefined;
  #bytes = 0;
  #replyBytes = 0;
  /** Of running requests, and of replies that are still to be made: nothing that the peer could take. */
  #requestBytes = 0;
  #sentFrames = 0;
  #isFull = false;
  #isReading = true;
  #isAnswering = false;
  #isOver = false;

  constructor(
    transport: Transport,
    limits: OutboxLimits,
    owner: OutboxOwner,
    { eventsCanStall = true }: { readonly eventsCanStall?: boolean } = {},
  ) {
    this.#transport = transport;
    this.#limits = limits;
    this.#owner = owner;
    this.#eventsCanStall = eventsCanStall;
  }

  /** Whether a subscription may send. */
  get hasRoom(): boolean {
    return !this.#isFull && !this.#pool?.isExhausted;
  }

  get bytes(): number {
    return this.#bytes + this.#requestBytes;
  }

  get progress(): string | undefined {
    if (this.#bytes === 0 || (!this.#eventsCanStall && this.#replyBytes === 0)) return undefined;
    return `${this.#sentFrames}/${this.#transport.unsentBytes?.()}`;
  }

  /** From now on it shares the memory of others. */
  join(pool: MemoryPool): void {
    this.#pool = pool;
    pool.join(this);
  }

  /** Sends an event; `left` is called with it once its memory is not used any more. */
  push(frame: Uint8Array, left?: (frame: Uint8Array) => void): void {
    this.#send(frame, 0, left);
  }

  /** Sends a reply, or whatever else the peer has caused by a frame of its own. */
  send(frame: Uint8Array): void {
    this.#send(frame, this.#costOf(frame));
    this.#regulate();
  }

  /** Makes a reply and sends it as soon as there is room for one: now, if nothing waits. `after` is called then. */
  answer(make: () => Uint8Array, after: () => void): void {
    this.#answers.push(() => {
      this.send(make());
      after();
    });
    this.#wakeAnswers();
  }

  /** Whether a reply would be made now. */
  get canAnswer(): boolean {
    return this.#answers.length === 0 && this.#hasReplyRoom;
  }

  /** Calls back once there is room for a reply, of which so many bytes are reserved until it is made by `use`. */
  reserve(bytes: number, onRoom: (use: (make: () => Uint8Array) => void) => void): void {
    this.#answers.push(() => {
      this.#chargeRequest(bytes);
      this.#replyBytes += bytes;
      onRoom((make) => {
        if (this.#isOver) return;
        this.#chargeRequest(-bytes);
        this.#replyBytes -= bytes;
        this.send(make());
      });
    });
    this.#wakeAnswers();
  }

  /** Charges a running request, unless it would be more than is left to this peer. */
  tryCharge(bytes: number): boolean {
    const pool = this.#pool;
    if (pool && !pool.isPlenty && this.bytes + bytes > pool.share) return false;
    this.#chargeRequest(bytes);
    return true;
  }

  /** The request is over. */
  release(bytes: number): void {
    if (!this.#isOver) this.#chargeRequest(-bytes);
  }

  /** The connection is over: what waits is not sent. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#answers.length = 0;
    this.#pool?.leave(this);
    this.#resume();
  }

  onMemory(): void {
    this.#wakeAnswers();
    if (this.hasRoom) this.#owner.onRoom();
  }

  onStalled(): void {
    this.#owner.onStalled();
  }

  #send(frame: Uint8Array, replyBytes: number, left?: (frame: Uint8Array) => void): void {
    const bytes = this.#costOf(frame);
    this.#charge(bytes, replyBytes);
    this.#isFull ||= this.#bytes >= this.#roomBytes();
    this.#transport.send(frame, () => {
      left?.(frame);
      this.#sent(bytes, replyBytes);
    });
    if (this.#bytes > this.#limits.outboxMaxBytes) this.#owner.onOverflow();
  }

  #sent(bytes: number, replyBytes: number): void {
    this.#sentFrames += 1;
    if (this.#isOver) return;
    this.#charge(-bytes, -replyBytes);
    if (replyBytes > 0) this.#wakeAnswers();
    // Only at half: waking for every frame would send frames one by one.
    if (!this.#isFull || this.#bytes > this.#roomBytes() / 2) return;
    this.#isFull = false;
    if (this.hasRoom) this.#owner.onRoom();
  }

  #charge(bytes: number, replyBytes: number): void {
    this.#bytes += bytes;
    this.#replyBytes += replyBytes;
    this.#pool?.add(bytes);
  }

  #chargeRequest(bytes: number): void {
    this.#requestBytes += bytes;
    this.#pool?.add(bytes);
  }

  #wakeAnswers(): void {
    // A frame that leaves at once calls this again from within.
    if (this.#isAnswering) return;
    this.#isAnswering = true;
    while (this.#answers.length > 0 && this.#hasReplyRoom) this.#answers.shift()?.();
    this.#isAnswering = false;
    this.#regulate();
  }

  get #hasReplyRoom(): boolean {
    return this.#replyBytes < this.#replyRoomBytes() && !this.#pool?.isExhausted;
  }

  /** Invariant 2. It is read again at half, so that the socket is not stopped and started for each reply. */
  #regulate(): void {
    if (this.#isOver) return;
    const isExhausted = this.#pool?.isExhausted ?? false;
    if (this.#isReading && (isExhausted || this.#replyBytes >= this.#replyRoomBytes())) {
      this.#isReading = false;
      this.#transport.pause?.();
    } else if (!isExhausted && this.#replyBytes <= this.#replyRoomBytes() / 2) this.#resume();
  }

  #resume(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#transport.resume?.();
  }

  #costOf(frame: Uint8Array): number {
    return frame.length + this.#limits.frameOverheadBytes;
  }

  #roomBytes(): number {
    return Math.min(this.#limits.outboxBytes, this.#pool?.share ?? Number.POSITIVE_INFINITY);
  }

  #replyRoomBytes(): number {
    return Math.min(this.#limits.outboxReplyBytes, this.#pool?.share ?? Number.POSITIVE_INFINITY);
  }
}
