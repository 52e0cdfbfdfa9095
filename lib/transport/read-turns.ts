// Reads the peers of a server in turns, so that a flood of small frames from one of them does not delay the others: Node alone
// would handle up to 2 MiB of them in one turn of the event loop. Node only.
//
// Invariants
// 1. What arrives from one peer is handled in its order, one piece at a time, and all promises that it settles go on before
//    the next piece: a handler that pauses its peer gets no further piece.
// 2. In one turn of the event loop a lane uses its time and one piece more, however many peers there are.
// 3. Of a paused peer nothing is read: what waits here is one slice of frames and the buffer of its stream.
// 4. A lane that has not done with its time rests: Node accepts one connection in a turn of the event loop (libuv since 1.46), so
//    when all turns are long, an owner that connects waits behind a crowd of strangers for seconds.
import type { Readable } from "node:stream";
import { limits } from "../../protocol/index.ts";

/** Bytes that are parsed at once: some hundred of the smallest frames. Twice as many while frames turn out to be large. */
const SLICE_BYTES = 4 * 1024;
const MAX_SLICE_BYTES = 16 * 1024;

/** How long viewers rest, in turns that they have used up: nothing that they ask for is urgent. */
const REST_FACTOR = 3;

/** Peers that may act, those that have not shown who they are, and those that only look: each kind has its lane. */
export type Rank = "first" | "unknown" | "last";

/** Time per turn of the event loop. */
export interface TurnTimes {
  /** For peers that may act. */
  readonly turnMs: number;
  /** For each other kind. */
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
   * Reads `stream` in slices, each of which it emits as `data`; a listener of that parses it and offers what it finds. The
   * peer is unknown until it is ranked.
   */
  open(stream: Readable): Inflow {
    return new Inflow(stream, this.#lanes);
  }
}

/** What arrives from one peer. */
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
  /** Stands in the line of a lane; kept by that. */
  isQueued = false;

  constructor(stream: Readable, lanes: Readonly<Record<Rank, Lane>>) {
    this.#stream = stream;
    this.#lanes = lanes;
    this.#lane = lanes.unknown;
    // With this listener the stream reads ahead up to its mark and then waits to be asked (Node: readable before data).
    stream.on("readable", this.#onReadable);
  }

  /** Handles a piece when it is its turn: now, if nothing waits. */
  offer(piece: () => void): void {
    // The first of a slice is handled before the rest of it is parsed: it may say how large the next ones may be.
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

  /** From its next turn on. */
  rank(rank: Rank): void {
    this.#lane = this.#lanes[rank];
  }

  /** What still comes is thrown away unread. */
  discard(): void {
    this.#stream.off("readable", this.#onReadable);
    this.#mayRead = false;
    this.#isPaused = false;
    this.#stream.resume();
  }

  /** Handles one piece, unless it was paused meanwhile. Called by its lane only, in whose line it stands no more. */
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
      // As the lane does it between two pieces.
      else queueMicrotask(() => process.nextTick(() => this.#wake(false)));
    }
  }

  #readSlice(): void {
    const { readableLength } = this.#stream;
    this.#isFirstOfSlice = true;
    // Without a number it reads all there is, or notices the end.
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

/** Peers that share a part of each turn of the event loop, served round and round. */
class Lane {
  readonly #ms: number;
  readonly #rest: number;
  /** An array: with a Set, V8 collects its whole heap twice as often while output passes (`npm run bench -- wire`). */
  readonly #queue: Inflow[] = [];
  /** When the time of this turn is used up; undefined before its first piece. It stays over during a rest. */
  #end: number | undefined;
  /** A step is under way, on its way, or waits for the next turn. */
  #isStepping = false;
  readonly #tick = () => this.#step();
  /** Goes on behind everything that a piece has set going (invariant 1): ticks run when no microtask is left. */
  readonly #goOn = () => process.nextTick(this.#tick);

  constructor(ms: number, rest: number) {
    this.#ms = ms;
    this.#rest = rest;
  }

  add(inflow: Inflow): void {
    if (inflow.isQueued) return;
    // Most of the time no other peer waits.
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

  /** Whether there is time in this turn; else it goes on in the next one. */
  #hasTime(): boolean {
    const now = performance.now();
    if (this.#end === undefined) {
      this.#end = now + this.#ms;
      setImmediate(() => this.#turnIsOver(now));
    }
    return now < this.#end;
  }

  #turnIsOver(begin: number): void {
    // No tick is on its way here, since ticks come before the next turn: it stopped because its time was used up.
    if (this.#isStepping && this.#rest > 0)
      setTimeout(() => this.#nextTurn(), (performance.now() - begin) * this.#rest);
    else this.#nextTurn();
  }

  #nextTurn(): void {
    this.#end = undefined;
    if (this.#isStepping) this.#step();
  }
}
