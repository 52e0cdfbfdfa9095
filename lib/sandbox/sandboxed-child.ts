// A child whose command runs in a sandbox. The child itself is bubblewrap, which ignores signals; they are meant for the command.
import type { Observable } from "rxjs";
import type { KillScope, SignalName, StreamName, TerminalSize } from "../../protocol/index.ts";
import type { Child, ChildEvent, ChildStdin, Leftover, ProcessInspector } from "../spawn/child.ts";

/** A child in a sandbox. */
export class SandboxedChild implements Child {
  readonly #child: Child;
  readonly #signalCommand: (signal: SignalName) => boolean;
  readonly #cleanUp: () => void;

  /** `signalCommand` signals the command alone, and returns false if it is gone. `cleanUp` is called at the release. */
  constructor(child: Child, signalCommand: (signal: SignalName) => boolean, cleanUp: () => void) {
    this.#child = child;
    this.#signalCommand = signalCommand;
    this.#cleanUp = cleanUp;
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
    if (scope !== "process" || !this.#signalCommand(signal)) this.#child.kill(signal, scope);
  }

  hasSurvivors(scope: KillScope): boolean {
    return this.#child.hasSurvivors(scope);
  }

  release(): Leftover | undefined {
    this.#cleanUp();
    return this.#child.release();
  }
}
