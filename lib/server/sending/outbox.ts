// Counts the bytes that a connection has handed to its socket and the kernel has not accepted yet. There is no queue of frames
// besides the socket's own: while that is full, subscriptions do not advance their cursors, replies are not encoded, and a
// peer that sends more requests is not read.
//
// Invariants
// 1. A frame is charged its bytes and `frameOverheadBytes`, here and to the pool, until the kernel has accepted it.
// 2. While replies reach their limit, or the pool is exhausted, nothing is read from the peer.
// 3. Waiting replies are encoded in order, one at a time, each only when there is room.
// 4. Running requests are charged to the same pool: a peer's share covers both.
import type { Transport } from "../../transport/transport.ts";
import type { MemoryPool, PoolMember } from "./memory-pool.ts";
import type { Pace } from "./pace.ts";

/** Limits of an outbox. */
export interface OutboxLimits {
  /** Bytes above which subscriptions wait. */
  readonly outboxBytes: number;
  /** Bytes of replies above which the peer is not read. */
  readonly outboxReplyBytes: number;
  /** Bytes above which the connection ends. */
  readonly outboxMaxBytes: number;
  readonly frameOverheadBytes: number;
}

/** Callbacks of an outbox. */
export interface OutboxOwner {
  /** Events may be sent again after the outbox was full. */
  onRoom(): void;
  /** More than `outboxMaxBytes` are waiting. */
  onOverflow(): void;
  /** The peer has read nothing for too long, or uses too much of a crowded pool. */
  onStalled(): void;
}

/** Counts the bytes of the unsent frames and the running requests of one connection. */
export class Outbox implements PoolMember {
  readonly #transport: Transport;
  readonly #limits: OutboxLimits;
  readonly #owner: OutboxOwner;
  /** Whether a peer that leaves only events unread counts as stalled. */
  readonly #eventsCanStall: boolean;
  #pace: Pace | undefined;
  readonly #answers: (() => void)[] = [];
  #pool: MemoryPool | undefined;
  #bytes = 0;
  #replyBytes = 0;
  /** Bytes of running requests and of replies that are not encoded yet: the peer cannot read them. */
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

  /** Whether subscriptions may send. */
  get hasRoom(): boolean {
    return !this.#isFull && !this.#pool?.isExhausted && (this.#pace?.hasRoom ?? true);
  }

  get bytes(): number {
    return this.#bytes + this.#requestBytes;
  }

  get progress(): string | undefined {
    if (this.#bytes === 0 || (!this.#eventsCanStall && this.#replyBytes === 0)) return undefined;
    return `${this.#sentFrames}/${this.#transport.unsentBytes?.()}`;
  }

  /** Shares the memory of `pool` from now on. */
  join(pool: MemoryPool): void {
    this.#pool = pool;
    pool.join(this);
  }

  /** Sends events no further ahead than `pace` allows. The answers to its probes must lead to calls of `answered`. */
  keepPace(pace: Pace): void {
    this.#pace = pace;
  }

  /** Sends an event. `onSent` is called with the frame once its memory may be reused. */
  push(frame: Uint8Array, onSent?: (frame: Uint8Array) => void): void {
    this.#send(frame, 0, onSent);
  }

  /** Sends a reply, or another frame that the peer caused with one of its own. */
  send(frame: Uint8Array): void {
    this.#send(frame, this.#costOf(frame));
    this.#regulate();
  }

  /** Encodes and sends a reply as soon as there is room: at once, if no other waits. Then calls `after`. */
  answer(make: () => Uint8Array, after: () => void): void {
    this.#answers.push(() => {
      this.send(make());
      after();
    });
    this.#wakeAnswers();
  }

  /** Whether a reply would be sent at once. */
  get canAnswer(): boolean {
    return this.#answers.length === 0 && this.#hasReplyRoom;
  }

  /** Calls back once there is room for a reply. `bytes` are reserved for it until `use` encodes it. */
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

  /** Charges a running request. Returns false, and charges nothing, if that would exceed this peer's share of a short pool. */
  tryCharge(bytes: number): boolean {
    const pool = this.#pool;
    if (pool && !pool.isPlenty && this.bytes + bytes > pool.share) return false;
    this.#chargeRequest(bytes);
    return true;
  }

  /** Ends the charge of a request. */
  release(bytes: number): void {
    if (!this.#isOver) this.#chargeRequest(-bytes);
  }

  /** The connection has ended: waiting replies are dropped. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#answers.length = 0;
    this.#pool?.leave(this);
    this.#resume();
  }

  /** The peer has answered a probe of the pace. */
  answered(id?: number): void {
    this.#pace?.answered(id);
    if (this.hasRoom && !this.#isOver) this.#owner.onRoom();
  }

  onMemory(): void {
    this.#wakeAnswers();
    if (this.hasRoom) this.#owner.onRoom();
  }

  onStalled(): void {
    this.#owner.onStalled();
  }

  #send(frame: Uint8Array, replyBytes: number, onSent?: (frame: Uint8Array) => void): void {
    const bytes = this.#costOf(frame);
    this.#charge(bytes, replyBytes);
    this.#isFull ||= this.#bytes >= this.#roomBytes();
    this.#transport.send(frame, () => {
      onSent?.(frame);
      this.#sent(bytes, replyBytes);
    });
    // After the frame, since a probe must follow what it measures.
    this.#pace?.sent(frame.length);
    if (this.#bytes > this.#limits.outboxMaxBytes) this.#owner.onOverflow();
  }

  #sent(bytes: number, replyBytes: number): void {
    this.#sentFrames += 1;
    if (this.#isOver) return;
    this.#charge(-bytes, -replyBytes);
    if (replyBytes > 0) this.#wakeAnswers();
    // Only below half: waking for every frame would send frames one by one.
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
    // A frame that is sent at once calls this again from within.
    if (this.#isAnswering) return;
    this.#isAnswering = true;
    while (this.#answers.length > 0 && this.#hasReplyRoom) this.#answers.shift()?.();
    this.#isAnswering = false;
    this.#regulate();
  }

  get #hasReplyRoom(): boolean {
    return this.#replyBytes < this.#replyRoomBytes() && !this.#pool?.isExhausted;
  }

  /** Invariant 2. The peer is read again below half, so that the socket is not paused and resumed for each reply. */
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
