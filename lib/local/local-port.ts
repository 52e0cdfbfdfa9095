// The port of a local process: posts each call as a message, and turns the answer into a promise.
import type { Activity, PipeHolder, ReadResult, SignalName, TerminalSize, WriteStatus } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import { ExecwireError } from "../errors.ts";
import { read } from "../log/read.ts";
import type { ProcessPort, ReadCallOptions, SignalOptions, TerminateOptions, WriteOptions } from "../process/port.ts";
import { checkStarted } from "../process/refusals.ts";
import type { ProcessInspector } from "../spawn/child.ts";
import type { Message, Reply } from "./message.ts";
import type { ProcessActor } from "./process-actor.ts";

/** Sends commands to a process actor of this program. */
export class LocalPort implements ProcessPort {
  readonly #processId: string;
  readonly #actor: ProcessActor;
  readonly #clock: Clock;
  readonly #graceMs: number;

  constructor(
    processId: string,
    actor: ProcessActor,
    { clock, graceMs }: { readonly clock: Clock; readonly graceMs: number },
  ) {
    this.#processId = processId;
    this.#actor = actor;
    this.#clock = clock;
    this.#graceMs = graceMs;
  }

  async read(options: ReadCallOptions = {}): Promise<ReadResult> {
    checkStarted(this.#processId, this.#actor.state);
    return read(this.#actor.log, options, this.#clock);
  }

  write(chunk: Uint8Array, { writeId }: WriteOptions = {}): Promise<WriteStatus> {
    return this.#ask((reply) => ({ type: "write", chunk, writeId, reply }));
  }

  closeStdin(): Promise<WriteStatus> {
    return this.#ask((reply) => ({ type: "closeStdin", reply }));
  }

  signal(signal: SignalName, { scope = "group" }: SignalOptions = {}): Promise<void> {
    return this.#ask((reply) => ({ type: "signal", signal, scope, reply }));
  }

  resize({ rows, cols }: TerminalSize): Promise<void> {
    return this.#ask((reply) => ({ type: "resize", size: Object.freeze({ rows, cols }), reply }));
  }

  terminate({ graceMs = this.#graceMs, scope }: TerminateOptions = {}): Promise<{ readonly running: boolean }> {
    // Only an explicit scope reaches processes that an exited process left behind.
    const request = { reason: "terminate", graceMs, scope: scope ?? "group", leftovers: scope !== undefined } as const;
    return this.#ask((reply) => ({ type: "terminate", ...request, reply }));
  }

  async holders(): Promise<readonly PipeHolder[]> {
    return this.#inspectorFor("holders").holders();
  }

  async activity(): Promise<Activity> {
    return this.#inspectorFor("activity").activity();
  }

  /** Like reading, inspecting a process bypasses the mailbox. */
  #inspectorFor(what: keyof ProcessInspector): ProcessInspector {
    checkStarted(this.#processId, this.#actor.state);
    const { inspector } = this.#actor;
    if (inspector) return inspector;
    throw new ExecwireError(
      "UNSUPPORTED",
      `${what} is not supported here: it needs /proc, and pipes or a terminal that appear there`,
      {
        data: { what },
      },
    );
  }

  #ask<T>(message: (reply: Reply<T>) => Message): Promise<T> {
    return new Promise((resolve, reject) => this.#actor.post(message({ resolve, reject })));
  }
}
