// Reads the peers of a server in turns, so that a flood of small frames from one peer does not delay the others. Without it,
// Node would handle up to 2 MiB of frames in one turn of the event loop. Node only.
//
// Invariants
// 1. Pieces of one peer are handled in order, one at a time. All promise callbacks that a piece causes run before the next
//    piece, so a handler that pauses its peer gets no further piece.
// 2. In one turn of the event loop a lane uses at most its time plus one piece, however many peers it has.
// 3. A paused peer is not read: only one slice of frames and the buffer of its stream wait here.
// 4. A viewer lane that used up its time rests: Node accepts one connection per turn of the event loop (libuv since 1.46), so if
//    all turns were long, a new owner connection would wait for seconds behind many unauthenticated ones.
import type { Readable } from "node:stream";
import { limits } from "../../../protocol/index.ts";

/** Bytes that are parsed at once: a few hundred of the smallest frames. Doubled while frames turn out to be large. */
const SLICE_BYTES = 4 * 1024;
const MAX_SLICE_BYTES = 16 * 1024;

/** The rest of the viewer lane, as a multiple of the turn that it used up: no request of a viewer is urgent. */
const REST_FACTOR = 3;

/** Control peers, unauthenticated peers and viewers: each kind has its own lane. */
export type Rank = "first" | "unknown" | "last";

/** Time per turn of the event loop, in ms. */
export interface TurnTimes {
  /** For control peers. */
  readonly turnMs: number;
  /** For each of the other kinds. */
  readonly viewTurnMs: number;
}

/** The turns of all peers of one server. */
export class ReadTurns {
  readonly #lanes: Readonly<Record<Rank, Lane>>;

  constructor({ turnMs, viewTurnMs }: TurnTimes = limits) {
    this.#lanes = {
      first: new Lane(turnMs, 0),
      unknown: new Lane(viewTurnMs, 0),
      last: new Lane(viewTurnMs, REST_FACTOR),
    };
  }

  /**
   * Reads `stream` in slices, which the stream emits as `data`. A `data` listener parses them and offers the frames it finds. The
   * peer is `unknown` until it is ranked.
   */
  open(stream: Readable): Inflow {
    return new Inflow(stream, this.#lanes);
  }
}

/** The incoming data of one peer. */
export class Inflow {
  readonly #stream: Readable;
  readonly #lanes: Readonly<Record<Rank, Lane>>;
  #lane: Lane;
  readonly #pieces: (() => void)[] = [];
  #sliceBytes = SLICE_BYTES;
  #isPaused = false;
  #isBusy = false;
  #isFirstOfSlice = false;
  readonly #onReadable = () => this.#wake(true);
  #mayRead = false;
  /** Whether it is in the queue of a lane; set by the lane. */
  isQueued = false;

  constructor(stream: Readable, lanes: Readonly<Record<Rank, Lane>>) {
    this.#stream = stream;
    this.#lanes = lanes;
    this.#lane = lanes.unknown;
    // With a `readable` listener the stream reads ahead up to its high-water mark, and emits `data` only when it is read.
    stream.on("readable", this.#onReadable);
  }

  /** Handles a piece when it is the peer's turn: at once, if nothing waits. */
  offer(piece: () => void): void {
    // The first piece of a slice is handled before the rest is parsed: it may change the limit on the following frames.
    if (this.#isFirstOfSlice) {
      this.#isFirstOfSlice = false;
      return piece();
    }
    this.#pieces.push(piece);
    this.#wake(false);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#wake(false);
  }

  /** Moves the peer to the lane of `rank`, from its next turn on. */
  rank(rank: Rank): void {
    this.#lane = this.#lanes[rank];
  }

  /** Discards everything that still arrives. */
  discard(): void {
    this.#stream.off("readable", this.#onReadable);
    this.#mayRead = false;
    this.#isPaused = false;
    this.#stream.resume();
  }

  /** Handles one piece, unless the peer was paused meanwhile. Called only by its lane, which has removed it from the queue. */
  step(): void {
    if (this.#isPaused) return;
    const lane = this.#lane;
    this.#isBusy = true;
    try {
      if (this.#pieces.length > 0) this.#pieces.shift()?.();
      else if (this.#mayRead) this.#readSlice();
    } finally {
      this.#isBusy = false;
      if (lane === this.#lane) this.#wake(false);
      // Deferred in the same way as the lane does it between two pieces.
      else queueMicrotask(() => process.nextTick(() => this.#wake(false)));
    }
  }

  #readSlice(): void {
    const { readableLength } = this.#stream;
    this.#isFirstOfSlice = true;
    // Without a size, `read` returns everything, or notices the end of the stream.
    this.#stream.read(readableLength > this.#sliceBytes ? this.#sliceBytes : undefined);
    this.#isFirstOfSlice = false;
    this.#mayRead = this.#stream.readableLength > 0;
    this.#sliceBytes = this.#pieces.length > 0 ? SLICE_BYTES : Math.min(this.#sliceBytes * 2, MAX_SLICE_BYTES);
  }

  #wake(mayRead: boolean): void {
    this.#mayRead ||= mayRead;
    if (this.#isBusy || this.#isPaused) return;
    if (this.#pieces.length > 0 || this.#mayRead) this.#lane.add(this);
  }
}

/** Peers that share a part of each turn of the event loop, served in round-robin order. */
class Lane {
  readonly #ms: number;
  readonly #rest: number;
  /** An array: with a Set, V8 runs full collections twice as often while output passes (`npm run bench -- wire`). */
  readonly #queue: Inflow[] = [];
  /** When the time of this turn is used up; undefined before the first piece. It is not renewed during a rest. */
  #end: number | undefined;
  /** A step is running, scheduled, or waiting for the next turn. */
  #isStepping = false;
  readonly #tick = () => this.#step();
  /** Continues after everything that a piece has caused (invariant 1): a tick from a microtask runs once no microtask is left. */
  readonly #goOn = () => process.nextTick(this.#tick);

  constructor(ms: number, rest: number) {
    this.#ms = ms;
    this.#rest = rest;
  }

  add(inflow: Inflow): void {
    if (inflow.isQueued) return;
    // The common case: no other peer waits.
    if (!this.#isStepping && this.#hasTime()) return this.#do(inflow);
    inflow.isQueued = true;
    this.#queue.push(inflow);
    this.#isStepping = true;
  }

  #step(): void {
    if (!this.#hasTime()) return;
    const inflow = this.#queue.shift();
    if (!inflow) {
      this.#isStepping = false;
      return;
    }
    inflow.isQueued = false;
    this.#do(inflow);
  }

  #do(inflow: Inflow): void {
    this.#isStepping = true;
    try {
      inflow.step();
    } finally {
      if (this.#queue.length === 0) this.#isStepping = false;
      else queueMicrotask(this.#goOn);
    }
  }

  /** Whether the lane has time left in this turn. If not, it continues in the next turn. */
  #hasTime(): boolean {
    const now = performance.now();
    if (this.#end === undefined) {
      this.#end = now + this.#ms;
      setImmediate(() => this.#turnIsOver(now));
    }
    return now < this.#end;
  }

  #turnIsOver(begin: number): void {
    // No tick can be pending here, since ticks run before the next turn: the lane stopped because its time was used up.
    if (this.#isStepping && this.#rest > 0)
      setTimeout(() => this.#nextTurn(), (performance.now() - begin) * this.#rest);
    else this.#nextTurn();
  }

  #nextTurn(): void {
    this.#end = undefined;
    if (this.#isStepping) this.#step();
  }
}
