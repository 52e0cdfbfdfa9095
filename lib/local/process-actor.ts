// A supervised process as an actor: everything that happens to it is a message, handled one at a time.
//
// from                     message              effect                                    log
// -----------------------  -------------------  ----------------------------------------  -----------------
// spawner                  spawned              subscribe to the child, start the timeout
// spawner                  spawnFailed          free the id                               fail
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
// clock, log (followed)    mergeWindowOver      append merged output                      output
// log (lossless readers)   pressure             pause or resume the child
// clock                    leaseOver            drop readers that did not renew
// supervisor               closing              close all descriptors soon after the end  closed
// supervisor, clock        release              close all descriptors                     closed
// supervisor               remove               release the memory, free the id
//
//  starting --spawned--> running --exited--> exited --last stream ended--> closed --retention--> removed
//      |                    \--streams end first--> running --exited--> closed
//      +--terminate, spawnFailed--> removed
//
// Invariants
// 1. Only the handler changes state.
// 2. The handler never awaits.
// 3. Every effect is a call on the child or an append to the log.
// 4. `closed` is appended when the exit is known and every stream has ended.
// 5. The child's pid is released only after `closed` and after the last kill that is still due.
import type { Limits, ProcessInfo, ProcessState, TerminalSize, WriteStatus } from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";
import { ExecwireError } from "../errors.ts";
import { WriteLedger } from "../host/write-ledger.ts";
import { PauseLease } from "../log/pause-lease.ts";
import { ReplayLog, type ReplayLogOptions } from "../log/replay-log.ts";
import { infoCost } from "../process/process-info.ts";
import type { Child, ExitStatus, Leftover, ProcessInspector } from "../spawn/child.ts";
import { ChildHold } from "./child-hold.ts";
import { Mailbox } from "./mailbox.ts";
import { answer, type Message, type Reply } from "./message.ts";
import { OutputMerger } from "./output-merger.ts";
import { describeExit, type ProcessIdentity, ProcessStatus } from "./process-status.ts";
import { type StdinCounts, StdinQueue } from "./stdin-queue.ts";
import type { TerminationRequest } from "./termination.ts";

/** What all actors of a supervisor share: one object, since a copy per actor would cost more than a small process. */
export interface ActorContext {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly log: ReplayLogOptions;
  readonly counts: StdinCounts;
  readonly onChange: (actor: ProcessActor, info: ProcessInfo) => void;
  /** Called once for each spawned child, when its pid is released, with what it left behind. */
  readonly onReleased: (pid: number, leftover: Leftover | undefined) => void;
  readonly onError: (error: unknown) => void;
}

/** One supervised process. */
export class ProcessActor {
  readonly log: ReplayLog;
  /** Bytes of memory that it costs beside its log. */
  readonly cost: number;
  /** Settles with the outcome of the spawn. */
  readonly started: Promise<void>;
  readonly #status: ProcessStatus;
  readonly #context: ActorContext;
  readonly #timeoutMs: number | undefined;
  readonly #mailbox: Mailbox<Message>;
  readonly #merger: OutputMerger;
  readonly #hold: ChildHold;
  readonly #lease: PauseLease;
  #stdin: StdinQueue | undefined;
  #openStreams = 0;
  #hasReportedRefusal = false;
  #timeout: Cancel | undefined;
  #settleStart!: Reply<void>;

  constructor(identity: ProcessIdentity, context: ActorContext, timeoutMs?: number) {
    this.#status = new ProcessStatus(identity, (info) => context.onChange(this, info));
    this.cost = context.limits.processOverheadBytes + infoCost(this.info);
    this.#context = context;
    this.#timeoutMs = timeoutMs;
    const { clock, limits, log } = context;
    this.#mailbox = new Mailbox(
      (message) => this.#handle(message),
      (error) => this.report(error),
    );
    const mergeWindowOver = () => this.post({ type: "mergeWindowOver" });
    const onPressure = (full: boolean) => this.post({ type: "pressure", full });
    this.log = new ReplayLog(log, { onPressure, onFollowed: mergeWindowOver });
    this.#merger = new OutputMerger(this.log, mergeWindowOver, clock, limits);
    this.#hold = new ChildHold({
      clock,
      closeDeadlineMs: limits.closeDeadlineMs,
      onTermination: () => this.post({ type: "termination" }),
      onGiveUp: () => this.post({ type: "release" }),
      onReleased: context.onReleased,
    });
    this.#lease = new PauseLease(this.log.holds, clock, limits.pauseLeaseMs, () => this.post({ type: "leaseOver" }));
    this.started = new Promise((resolve, reject) => {
      this.#settleStart = { resolve, reject };
    });
    // A caller that does not wait for the start must not cause an unhandled rejection.
    this.started.catch(() => undefined);
  }

  get state(): ProcessState {
    return this.#status.state;
  }

  /** The process as lists show it. */
  get info(): ProcessInfo {
    return this.#status.info;
  }

  /** See `ChildHold`. */
  get inspector(): ProcessInspector | undefined {
    return this.#hold.inspector;
  }

  /** See `ChildHold`. */
  get released(): Promise<void> {
    return this.#hold.released;
  }

  /** Reports an error that no caller waits for. A process that we may not signal is reported once, not at each attempt. */
  report(error: unknown): void {
    const isRefusal = error instanceof ExecwireError && error.code === "SIGNAL_FAILED";
    if (isRefusal && this.#hasReportedRefusal) return;
    this.#hasReportedRefusal ||= isRefusal;
    this.#context.onError(error);
  }

  /** The only way to act on the process. */
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
        return this.#hold.none();
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
          if (this.state === "running") this.#hold.child?.kill(message.signal, message.scope);
        });
      case "resize":
        return answer(message.reply, () => this.#resize(message.size));
      case "terminate":
        return answer(message.reply, () => ({ running: this.#terminate(message, message.leftovers) }));
      case "timeout":
        if (this.state !== "running") return;
        return this.#hold.terminate({ reason: "timeout", graceMs: this.#context.limits.graceMs, scope: "tree" });
      case "termination":
        try {
          this.#hold.proceed();
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
        this.#hold.streams.close();
        return this.#releaseIfOver();
      case "release":
        this.#hold.giveUp();
        // The ends of the streams arrive after this message; an exit that is unknown now will never be known.
        if (!this.log.exited) {
          const error = new ExecwireError("CLOSED", "the supervisor was closed before the end was known");
          this.#status.become("removed", { record: () => this.log.fail(error) });
        }
        return;
      case "remove":
        this.log.forget();
        return this.#status.become("removed");
    }
  }

  #onSpawned(child: Child): void {
    if (this.state !== "starting") return this.#hold.discard(child);
    this.#hold.take(child);
    this.#openStreams = child.streams.length;
    const { limits, counts, clock } = this.#context;
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
    const record = () => this.log.appendExited(describeExit(exit, this.#hold, this));
    this.#status.become("exited", { exit, record });
    this.#closeIfOver();
    // The kill may have missed a process that was being forked; it may hold a stream, so keep checking until it is gone.
    this.#releaseIfOver();
  }

  #closeIfOver(): void {
    if (this.state !== "exited" || this.#openStreams > 0) return;
    this.#merger.endWindow();
    this.#lease.end();
    this.#status.become("closed", { record: () => this.log.appendClosed() });
    this.#releaseIfOver();
  }

  /** Upholds invariant 5. */
  #releaseIfOver(): void {
    this.#hold.releaseIfOver(this.log);
  }

  #terminate(request: TerminationRequest, leftovers: boolean): boolean {
    if (this.state === "starting") {
      const { processId } = this.info;
      this.#failStart(new ExecwireError("START_CANCELLED", `the start of process ${processId} was cancelled`));
      return true;
    }
    const { state } = this;
    const running = state === "running";
    // Background processes may outlive the streams: they are reached the same way before and after `closed`.
    if (this.#hold.hasTarget && (running || (leftovers && (state === "exited" || state === "closed")))) {
      this.#hold.terminate(request);
      if (!running) this.#releaseIfOver();
    }
    // A process that is killed without a grace period reads no more input.
    if (running && request.graceMs === 0) this.#stdin?.break();
    return running;
  }

  #resize(size: TerminalSize): void {
    if (!this.info.tty) throw new ExecwireError("UNSUPPORTED", "the process has no terminal to resize");
    if (this.state !== "running") return;
    this.#merger.flush();
    this.#hold.child?.resize(size);
    this.log.appendResized(size);
  }

  #onPressure(full: boolean): void {
    this.#hold.streams.pause(full);
    if (full) {
      this.#hold.child?.pause();
      this.#lease.begin();
    } else {
      this.#lease.end();
      this.#hold.child?.resume();
    }
  }

  #writeStatus(): WriteStatus {
    if (this.state === "starting") return "starting";
    return this.state === "removed" ? "unknownProcess" : "stdinClosed";
  }
}
