// A child controlled by a spec, and a spawner of such children: the spec determines the order of events, not the
// operating system. Every call to the child is recorded.
import { Observable, type Subscriber } from "rxjs";
import type {
  Child,
  ChildEvent,
  ChildStdin,
  Launch,
  Leftover,
  ProcessInspector,
  Spawner,
} from "../../lib/spawn/child.ts";
import type { KillScope, SignalName, StreamName, TerminalSize } from "../../protocol/index.ts";

/** A stdin that accepts writes when the spec lets it. */
export class FakeStdin implements ChildStdin {
  /** Text of every write that reached the child, and `EOF`. */
  readonly received: string[] = [];
  #done: ((error?: Error) => void) | undefined;

  write(chunk: Uint8Array, done: (error?: Error) => void): void {
    if (this.#done) throw new Error("a second write before the first was taken");
    this.received.push(Buffer.from(chunk).toString());
    this.#done = done;
  }

  end(): void {
    this.received.push("EOF");
  }

  /** The kernel accepts the write in flight, or refuses it. */
  take(error?: Error): void {
    const done = this.#done;
    if (!done) throw new Error("no write is in flight");
    this.#done = undefined;
    done(error);
  }
}

/** A child without a process. */
export class FakeChild implements Child {
  readonly pid: number;
  readonly isPidReserved = true;
  readonly streams: readonly StreamName[];
  readonly stdin: FakeStdin | undefined;
  readonly events$: Observable<ChildEvent>;
  /** Set by specs that inspect the process. */
  inspector: ProcessInspector | undefined;
  /** Every call, such as `SIGTERM group`, `pause`, `release`. */
  readonly calls: string[] = [];
  /** Whether a process of the scope is left. */
  survivors = false;
  readonly #open: Set<StreamName>;
  #exited = false;
  #subscriber: Subscriber<ChildEvent> | undefined;

  constructor(pid: number, streams: readonly StreamName[], stdin: boolean) {
    this.pid = pid;
    this.streams = streams;
    this.stdin = stdin ? new FakeStdin() : undefined;
    this.#open = new Set(streams);
    this.events$ = new Observable((subscriber) => {
      this.#subscriber = subscriber;
    });
  }

  output(text: string, stream: StreamName = this.streams[0] as StreamName): void {
    this.#emit({ type: "output", stream, chunk: Buffer.from(text) });
  }

  /** Ends the given streams, or all open ones. */
  end(...streams: StreamName[]): void {
    for (const stream of streams.length > 0 ? streams : [...this.#open]) {
      if (this.#open.delete(stream)) this.#emit({ type: "ended", stream });
    }
  }

  exit(status: number | string): void {
    this.#exited = true;
    const exit = typeof status === "number" ? { exitCode: status, signal: null } : { exitCode: null, signal: status };
    this.#emit({ type: "exited", ...exit });
  }

  pause(): void {
    this.calls.push("pause");
  }

  resume(): void {
    this.calls.push("resume");
  }

  kill(signal: SignalName, scope: KillScope): void {
    this.calls.push(`${signal} ${scope}`);
  }

  hasSurvivors(): boolean {
    return this.survivors;
  }

  resize({ rows, cols }: TerminalSize): void {
    this.calls.push(`resize ${rows}x${cols}`);
  }

  /** Idempotent, as the contract of a child requires. */
  release(): Leftover | undefined {
    if (this.calls.includes("release")) return undefined;
    this.calls.push("release");
    this.end();
    return undefined;
  }

  #emit(event: ChildEvent): void {
    if (!this.#subscriber) throw new Error("the child does something before anybody listens");
    this.#subscriber.next(event);
    if (this.#exited && this.#open.size === 0) this.#subscriber.complete();
  }
}

/** Spawns fake children. */
export class FakeSpawner implements Spawner {
  readonly children: FakeChild[] = [];
  readonly launches: Launch[] = [];
  #gate: Promise<void> = Promise.resolve();
  #open: () => void = () => undefined;

  /** From here on, spawning waits until `go`. */
  wait(): void {
    this.#gate = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  go(): void {
    this.#open();
  }

  async spawn(launch: Launch): Promise<FakeChild> {
    this.launches.push(launch);
    await this.#gate;
    const streams: StreamName[] = launch.tty ? ["pty"] : launch.merge ? ["stdout"] : ["stdout", "stderr"];
    const child = new FakeChild(1000 + this.children.length, streams, Boolean(launch.tty) || launch.pipeStdin);
    this.children.push(child);
    return child;
  }

  finishKills(): void {}

  close(): void {}
}
