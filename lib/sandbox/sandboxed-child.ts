// A child whose command runs in a sandbox, or with a proxy. In a sandbox the child itself is bubblewrap, which ignores signals;
// they are meant for the command.
import type { Observable } from "rxjs";
import type { KillScope, SignalName, StreamName, TerminalSize } from "../../protocol/index.ts";
import type { Child, ChildEvent, ChildStdin, Leftover, ProcessInspector } from "../spawn/child.ts";
import type { ChildNetwork } from "./sandbox-network.ts";

/** What a sandbox adds to a child. */
export interface SandboxedChildOptions {
  /** Signals the command alone; returns false if it is gone. Absent: the child is the command. */
  readonly signalCommand?: (signal: SignalName) => boolean;
  /** Called at the release. */
  readonly cleanUp?: () => void;
  /** Closed at the release. */
  readonly network: ChildNetwork | undefined;
}

/** Signals that ask a process to end. */
const ENDING: readonly SignalName[] = ["SIGTERM", "SIGKILL"];

/** A child in a sandbox, or one with a proxy. */
export class SandboxedChild implements Child {
  readonly #child: Child;
  readonly #options: SandboxedChildOptions;

  constructor(child: Child, options: SandboxedChildOptions) {
    this.#child = child;
    this.#options = options;
  }

  get networkDenied(): boolean {
    return this.#options.network?.hasDenied ?? false;
  }

  get pid(): number {
    return this.#child.pid;
  }

  get isPidReserved(): boolean {
    return this.#child.isPidReserved;
  }

  get streams(): readonly StreamName[] {
    return this.#child.streams;
  }

  get events$(): Observable<ChildEvent> {
    return this.#child.events$;
  }

  get stdin(): ChildStdin | undefined {
    return this.#child.stdin;
  }

  get inspector(): ProcessInspector | undefined {
    return this.#child.inspector;
  }

  pause(): void {
    this.#child.pause();
  }

  resume(): void {
    this.#child.resume();
  }

  resize(size: TerminalSize): void {
    this.#child.resize(size);
  }

  kill(signal: SignalName, scope: KillScope): void {
    if (ENDING.includes(signal)) this.#options.network?.refusePending();
    if (scope !== "process" || !this.#options.signalCommand?.(signal)) this.#child.kill(signal, scope);
  }

  hasSurvivors(scope: KillScope): boolean {
    return this.#child.hasSurvivors(scope);
  }

  release(): Leftover | undefined {
    this.#options.cleanUp?.();
    this.#options.network?.close();
    return this.#child.release();
  }
}
