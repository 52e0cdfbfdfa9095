// A supervised process as an actor: whatever happens to it is a message, handled one at a time.
//
// from                     message              effect                                    log
// -----------------------  -------------------  ----------------------------------------  -----------------
// spawner                  spawned              subscribe to the child, start the timeout
// spawner                  spawnFailed          the id is free again                      fail
// child                    output               merge                                     output
// child                    ended                                                          closed, if the last
// child                    exited               close stdin                               exited, closed if the last
// port.write               write                StdinQueue (may park)
// port.closeStdin          closeStdin           StdinQueue
// child.stdin              written              next chunk, parked writers
// port.signal              signal               kill
// port.resize              resize               resize the terminal                       resized
// port.terminate           terminate            TERM, or cancel the start
// clock                    timeout              TERM to the tree
// clock                    termination          KILL after the grace, survivors
// log (lossless readers)   pressure             pause or resume the child
// clock                    leaseOver            let go of dead readers
// supervisor               closing              close all descriptors soon after the end  closed
// supervisor, clock        release              close all descriptors                     closed
//
//  starting --spawned--> running --exited--> exited --last stream ended--> closed --retention--> removed
//      |                    \--streams end first--> running --exited--> closed
//      +--terminate, spawnFailed--> removed
//
// Invariants
// 1. Only the handler changes state. 2. It never awaits. 3. Every effect is a call on the child or an append.
// 4. `closed` is appended when the exit is known and every stream ended.
// 5. The child's pid is given up only after `closed` and after the last kill that was promised.
import type { Limits, ProcessInfo, ProcessState, TerminalSize, WriteStatus } from "../../protocol/index.ts";
import { Mailbox } from "../actor/mailbox.ts";
import type { Cancel, Clock } from "../clock.ts";
import { ExecwireError } from "../errors.ts";
import { PauseLease } from "../log/pause-lease.ts";
import { ReplayLog, type ReplayLogOptions } from "../log/replay-log.ts";
import type { Child, ExitStatus, Facts, KillTarget, Leftover } from "../spawn/child.ts";
import { discard } from "./discard.ts";
import { HeldStreams } from "./held-streams.ts";
import { answer, type Message, type Reply } from "./message.ts";
import { OutputMerger } from "./output-merger.ts";
import { describeExit, type Identity, ProcessStatus } from "./process-status.ts";
import { type StdinCounts, StdinQueue } from "./stdin-queue.ts";
import { Termination, type TerminationRequest } from "./termination.ts";
import { WriteLedger } from "./write-ledger.ts";

/** What all actors of a supervisor have in common: one object, since a copy of it for each costs more than a small process. */
export interface ActorSurroundings {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly log: ReplayLogOptions;
  readonly counts: StdinCounts;
  readonly onChange: (actor: ProcessActor, info: ProcessInfo) => void;
  /** Told once for each spawned child whose pid was given up, and of what it has left. */
  readonly onReleased: (pid: number, leftover: Leftover | undefined) => void;
  readonly onBug: (error: unknown) => void;
}

/** One supervised process. */
export class ProcessActor {
  readonly log: ReplayLog;
  /** What it costs its supervisor beside its log, in bytes. */
  cost = 0;
  /** Settles with the outcome of the spawn. */
  readonly started: Promise<void>;
  /** Resolves when nothing of the process is held any more: it is closed and its pid given up, or it never was. */
  readonly released: Promise<void>;
  readonly #status: ProcessStatus;
  readonly #surroundings: ActorSurroundings;
  readonly #timeoutMs: number | undefined;
  readonly #mailbox: Mailbox<Message>;
  readonly #merger: OutputMerger;
  readonly #termination: Termination;
  readonly #lease: PauseLease;
  readonly #heldStreams: HeldStreams;
  /** Until it is released. */
  #child: Child | undefined;
  /** From then on. */
  #leftover: Leftover | undefined;
  #lastFacts: Facts | undefined;
  #stdin: StdinQueue | undefined;
  #openStreams = 0;
  #timeout: Cancel | undefined;
  #settleStart!: Reply<void>;
  #settleRelease!: () => void;

  constructor(identity: Identity, surroundings: ActorSurroundings, timeoutMs?: number) {
    this.#status = new ProcessStatus(identity, (info) => surroundings.onChange(this, info));
    this.#surroundings = surroundings;
    this.#timeoutMs = timeoutMs;
    const { clock, limits, log, onBug } = surroundings;
    this.#mailbox = new Mailbox((message) => this.#handle(message), onBug);
    const mergeWindowOver = () => this.post({ type: "mergeWindowOver" });
    const onPressure = (full: boolean) => this.post({ type: "pressure", full });
    this.log = new ReplayLog(log, { onPressure, onFollowed: mergeWindowOver });
    this.#merger = new OutputMerger(this.log, mergeWindowOver, clock, limits);
    this.#termination = new Termination(clock, () => this.post({ type: "termination" }));
    this.#lease = new PauseLease(this.log.holds, clock, limits.pauseLeaseMs, () => this.post({ type: "leaseOver" }));
    this.#heldStreams = new HeldStreams(clock, limits.closeDeadlineMs, () => this.post({ type: "release" }));
    this.started = new Promise((resolve, reject) => {
      this.#settleStart = { resolve, reject };
    });
    // Whoever does not wait for the start must not see an unhandled rejection.
    this.started.catch(() => undefined);
    this.released = new Promise((resolve) => {
      this.#settleRelease = resolve;
    });
  }

  get state(): ProcessState {
    return this.#status.state;
  }

  /** The process as lists show it. */
  get info(): ProcessInfo {
    return this.#status.info;
  }

  /** What can be asked about its child; undefined before there is one, and where the system does not tell. */
  get facts(): Facts | undefined {
    return this.#child ? this.#child.facts : this.#lastFacts;
  }

  /** The one way to act on a process. */
  post(message: Message): void {
    this.#mailbox.post(message);
  }

  #handle(message: Message): void {
    switch (message.type) {
      case "output":
        return this.#merger.add(message.stream, message.chunk);
      case "ended":
        this.#openStreams -= 1;
        return this.#closeIfOver();
      case "exited":
        return this.#onExited(message);
      case "spawned":
        return this.#onSpawned(message.child);
      case "spawnFailed":
        this.#failStart(message.error);
        return this.#settleRelease();
      case "write":
        if (this.#stdin && this.state !== "removed")
          return this.#stdin.write(message.chunk, message.writeId, message.reply);
        return message.reply.resolve(this.#writeStatus());
      case "closeStdin":
        if (this.#stdin && this.state !== "removed") return this.#stdin.end(message.reply);
        return message.reply.resolve(this.#writeStatus());
      case "written":
        this.#merger.endWindow();
        return this.#stdin?.written(message.error);
      case "signal":
        return answer(message.reply, () => {
          if (this.state === "running") this.#child?.kill(message.signal, message.scope);
        });
      case "resize":
        return answer(message.reply, () => this.#resize(message.size));
      case "terminate":
        return answer(message.reply, () => ({ running: this.#terminate(message, message.leftovers) }));
      case "timeout":
        if (this.state !== "running") return;
        return (
          this.#child &&
          this.#termination.begin(this.#child, {
            reason: "timeout",
            graceMs: this.#surroundings.limits.graceMs,
            scope: "tree",
          })
        );
      case "termination":
        try {
          if (this.#target) this.#termination.proceed(this.#target);
        } finally {
          this.#releaseIfOver();
        }
        return;
      case "mergeWindowOver":
        return this.#merger.windowOver();
      case "pressure":
        return this.#onPressure(message.full);
      case "leaseOver":
        return this.#lease.over();
      case "closing":
        this.#heldStreams.close();
        return this.#releaseIfOver();
      case "release":
        this.#termination.cancel();
        if (this.#child) this.#released(this.#child.pid, this.#child.release());
        // The ends of the streams are messages that follow this one; an exit that is not known will not be.
        if (!this.log.exited) {
          const error = new ExecwireError("CLOSED", "the supervisor was closed before the end was known");
          this.#status.become("removed", { record: () => this.log.fail(error) });
        }
        return this.#settleRelease();
      case "remove":
        this.log.forget();
        return this.#status.become("removed");
    }
  }

  #onSpawned(child: Child): void {
    if (this.state !== "starting")
      return discard(child, this.#surroundings.clock, (leftover) => this.#released(child.pid, leftover));
    this.#child = child;
    this.#openStreams = child.streams.length;
    const { limits, counts, clock } = this.#surroundings;
    if (child.stdin) {
      const onWritten = (error?: Error) => this.post({ type: "written", error });
      this.#stdin = new StdinQueue(child.stdin, new WriteLedger(limits.writeIds), limits, onWritten, counts);
    }
    if (this.#timeoutMs !== undefined)
      this.#timeout = clock.after(this.#timeoutMs, () => this.post({ type: "timeout" }));
    this.#status.become("running", { pid: child.pid });
    this.#settleStart.resolve();
    child.events$.subscribe((event) => this.post(event));
  }

  #failStart(error: ExecwireError): void {
    if (this.state !== "starting") return;
    this.#status.become("removed", { record: () => this.log.fail(error) });
    this.#settleStart.reject(error);
  }

  #onExited(exit: ExitStatus): void {
    this.#merger.flush();
    this.#timeout?.();
    this.#stdin?.break();
    const record = () => this.log.appendExited(describeExit(exit, this.#termination.reason));
    this.#status.become("exited", { exit, record });
    this.#closeIfOver();
    // A process that the kill missed, because it was forked just then, may hold a stream: it is looked for until it is gone.
    this.#releaseIfOver();
  }

  #closeIfOver(): void {
    if (this.state !== "exited" || this.#openStreams > 0) return;
    this.#merger.endWindow();
    this.#lease.end();
    this.#status.become("closed", { record: () => this.log.appendClosed() });
    this.#releaseIfOver();
  }

  /** Invariant 5. */
  #releaseIfOver(): void {
    const target = this.#target;
    if (!this.log.exited || !target || this.#termination.isPending(target)) return;
    if (!this.log.closed) {
      if (this.#heldStreams.isClosing || this.#termination.reachesTree) this.#heldStreams.wait();
      return;
    }
    this.#heldStreams.cancel();
    this.#termination.cancel();
    if (this.#child) this.#release(this.#child);
  }

  /** What is kept of a closed process to be read is its log: its child takes several times as much memory as a small one. */
  #release(child: Child): void {
    this.#leftover = child.release();
    this.#child = undefined;
    if (child.facts) this.#lastFacts = NOTHING_LEFT;
    this.#released(child.pid, this.#leftover);
  }

  #released(pid: number, leftover: Leftover | undefined): void {
    this.#surroundings.onReleased(pid, leftover);
    this.#settleRelease();
  }

  /** What a termination acts on. */
  get #target(): KillTarget | undefined {
    return this.#child ?? this.#leftover;
  }

  #terminate(request: TerminationRequest, leftovers: boolean): boolean {
    if (this.state === "starting") {
      const { processId } = this.info;
      this.#failStart(new ExecwireError("START_CANCELLED", `the start of process ${processId} was cancelled`));
      return true;
    }
    const { state } = this;
    const running = state === "running";
    // The end of the streams is no end of what works in the background: closed or not, it is reached the same way.
    if (this.#target && (running || (leftovers && (state === "exited" || state === "closed")))) {
      this.#termination.begin(this.#target, request);
      if (!running) this.#releaseIfOver();
    }
    // Who is killed without a grace reads nothing any more.
    if (running && request.graceMs === 0) this.#stdin?.break();
    return running;
  }

  #resize(size: TerminalSize): void {
    if (!this.info.tty) throw new ExecwireError("UNSUPPORTED", "the process has no terminal to resize");
    if (this.state !== "running") return;
    this.#merger.flush();
    this.#child?.resize(size);
    this.log.appendResized(size);
  }

  #onPressure(full: boolean): void {
    this.#heldStreams.pause(full);
    if (full) {
      this.#child?.pause();
      this.#lease.begin();
    } else {
      this.#lease.end();
      this.#child?.resume();
    }
  }

  #writeStatus(): WriteStatus {
    if (this.state === "starting") return "starting";
    return this.state === "removed" ? "unknownProcess" : "stdinClosed";
  }
}

/** What can be told of a child that was let go of. */
const NOTHING_LEFT: Facts = { holders: async () => [], activity: async () => ({ state: "exited" }) };
