// The port of a local process: checks arguments, turns each call into a message, and the answer into a promise.
import {
  type Activity,
  checkInteger,
  checkSize,
  checkWriteId,
  limits,
  type PipeHolder,
  type ReadResult,
  type SignalName,
  type TerminalSize,
  type WriteStatus,
} from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import { ExecwireError, refuse } from "../errors.ts";
import { read } from "../log/read.ts";
import type { ProcessPort, ReadCallOptions, SignalOptions, TerminateOptions, WriteOptions } from "../process/port.ts";
import type { ProcessInspector } from "../spawn/child.ts";
import { signalNumber } from "../spawn/signals.ts";
import type { Message, Reply } from "./message.ts";
import type { ProcessActor } from "./process-actor.ts";

/** Commands to an actor of this program. */
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
    refuse(checkInteger("afterSeq", options.afterSeq ?? 0, 0, Number.MAX_SAFE_INTEGER));
    refuse(checkInteger("maxBytes", options.maxBytes ?? 0, 0, Number.MAX_SAFE_INTEGER));
    refuse(checkInteger("waitMs", options.waitMs ?? 0, 0, limits.readWaitMs));
    this.#checkThere();
    return read(this.#actor.log, options, this.#clock);
  }

  async write(chunk: Uint8Array | string, { writeId }: WriteOptions = {}): Promise<WriteStatus> {
    if (writeId !== undefined) refuse(checkWriteId(writeId));
    if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) {
      refuse({ field: "chunk", message: "must be a string or a Uint8Array" });
    }
    // A copy: the caller may use its buffer again while the bytes still wait here.
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : Uint8Array.from(chunk);
    return this.#ask((reply) => ({ type: "write", chunk: bytes, writeId, reply }));
  }

  closeStdin(): Promise<WriteStatus> {
    return this.#ask((reply) => ({ type: "closeStdin", reply }));
  }

  async signal(signal: SignalName, { scope = "group" }: SignalOptions = {}): Promise<void> {
    if (signalNumber(signal) === undefined)
      refuse({ field: "signal", message: `must be a signal of this system, got ${signal}` });
    checkScope(scope);
    return this.#ask((reply) => ({ type: "signal", signal, scope, reply }));
  }

  async resize(size: TerminalSize): Promise<void> {
    refuse(checkSize(size));
    const { rows, cols } = size;
    return this.#ask((reply) => ({ type: "resize", size: Object.freeze({ rows, cols }), reply }));
  }

  async terminate({ graceMs = this.#graceMs, scope }: TerminateOptions = {}): Promise<{ readonly running: boolean }> {
    refuse(checkInteger("graceMs", graceMs, 0, 2 ** 31 - 1));
    checkScope(scope ?? "group");
    // Only an explicit scope reaches what an exited process left behind.
    const request = { reason: "terminate", graceMs, scope: scope ?? "group", leftovers: scope !== undefined } as const;
    return this.#ask((reply) => ({ type: "terminate", ...request, reply }));
  }

  async holders(): Promise<readonly PipeHolder[]> {
    return this.#inspectorFor("holders").holders();
  }

  async activity(): Promise<Activity> {
    return this.#inspectorFor("activity").activity();
  }

  /** Looking at a process passes by the mailbox, as reading does. */
  #inspectorFor(what: keyof ProcessInspector): ProcessInspector {
    this.#checkThere();
    const { inspector } = this.#actor;
    if (inspector) return inspector;
    throw new ExecwireError("UNSUPPORTED", `${what} needs /proc and pipes or a terminal that show there`, {
      data: { what },
    });
  }

  #checkThere(): void {
    const { state } = this.#actor;
    if (state === "starting") {
      throw new ExecwireError("PROCESS_STARTING", `process ${this.#processId} is starting`);
    }
    if (state === "removed") throw unknownProcess(this.#processId);
  }

  #ask<T>(message: (reply: Reply<T>) => Message): Promise<T> {
    return new Promise((resolve, reject) => this.#actor.post(message({ resolve, reject })));
  }
}

/** The error for an id that nobody has, or has any more. */
export function unknownProcess(processId: string): ExecwireError {
  return new ExecwireError(
    "PROCESS_UNKNOWN",
    `there is no process ${processId}; it may have been removed after its end`,
  );
}

function checkScope(scope: string): void {
  if (["process", "group", "session", "tree"].includes(scope)) return;
  refuse({ field: "scope", message: `must be "process", "group", "session" or "tree", got ${JSON.stringify(scope)}` });
}
