// The port of a process at a Codex exec-server. What the dialect has no word for is refused by name; what can be answered
// here is not asked there, for the server handles one request of a connection after another.
import type { ReadResult, SignalName, TerminalSize, WriteStatus } from "../../../protocol/index.ts";
import { newUuid } from "../../client/uuid.ts";
import type { Clock } from "../../clock.ts";
import { ExecwireError } from "../../errors.ts";
import { WriteLedger } from "../../host/write-ledger.ts";
import { read } from "../../log/read.ts";
import { Mutex } from "../../mutex.ts";
import type {
  ProcessPort,
  ReadCallOptions,
  SignalOptions,
  TerminateOptions,
  WriteOptions,
} from "../../process/port.ts";
import { CodexError } from "../codex-error.ts";
import { answerOf, writeResult } from "./answers.ts";
import type { CodexCalls } from "./calls.ts";
import type { KnownProcess } from "./known-process.ts";
import { refused } from "./refusals.ts";
import { unsupported } from "./start-params.ts";

const EOF = 0x04;
const NEWLINE = 0x0a;

/** Commands to a process of this client; there is one port for all its handles. */
export class CodexPort implements ProcessPort {
  readonly #process: KnownProcess;
  readonly #calls: CodexCalls;
  readonly #clock: Clock;
  readonly #ledger: WriteLedger;
  /** Each write waits for the one before, since a server may handle several requests at once. */
  readonly #writes = new Mutex();
  #atLineStart = true;
  #stdinEnded = false;

  constructor(process: KnownProcess, calls: CodexCalls, clock: Clock, writeIds: number) {
    this.#process = process;
    this.#calls = calls;
    this.#clock = clock;
    this.#ledger = new WriteLedger(writeIds);
  }

  /** From the log here: the server would answer nothing else on this connection while a read waits. */
  async read(options: ReadCallOptions = {}): Promise<ReadResult> {
    this.#mustBeUp();
    return read(this.#process.log, options, this.#clock);
  }

  write(chunk: Uint8Array, { writeId }: WriteOptions = {}): Promise<WriteStatus> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    return this.#writes.run(() => this.#write(bytes, writeId));
  }

  /** A tty gets its end-of-file character. A pipe cannot be closed. */
  async closeStdin(): Promise<WriteStatus> {
    return this.#writes.run(async () => {
      const closed = this.#whyClosed();
      if (closed) return this.#stdinEnded && closed === "stdinClosed" ? "accepted" : closed;
      if (!this.#process.info.tty) throw unsupported("closeStdin");
      // In the middle of a line the first one only ends the line.
      const status = await this.#send(Buffer.alloc(this.#atLineStart ? 1 : 2, EOF), newUuid());
      this.#stdinEnded = status === "accepted";
      return status;
    });
  }

  async signal(signal: SignalName, { scope = "group" }: SignalOptions = {}): Promise<void> {
    if (this.#process.state !== "running") return;
    if (signal !== "SIGINT") throw unsupported(`signal ${signal}`);
    if (scope !== "group") throw unsupported(`scope ${scope}`);
    // Twice might end what once only interrupts, so it is not repeated when nobody knows whether it arrived.
    const params = { processId: this.#process.id, signal: "interrupt" };
    await this.#calls.call("process/signal", params, { afterLoss: "fail" }).catch(refused);
  }

  async resize(_size: TerminalSize): Promise<void> {
    const { tty } = this.#process.info;
    if (!tty) throw new ExecwireError("UNSUPPORTED", `process ${this.#process.id} has no terminal to be resized`);
    if (this.#process.state === "running") throw unsupported("resize");
  }

  /** SIGKILL to the process group, at once: the dialect knows no other end, so a grace is refused. */
  async terminate({ graceMs, scope }: TerminateOptions = {}): Promise<{ readonly running: boolean }> {
    const { state } = this.#process;
    // An explicit scope asks for what an exited process left behind, and there is no way to reach that.
    if (state === "exited" && scope !== undefined) throw unsupported(`scope ${scope} after the exit`);
    if (state !== "starting" && state !== "running") return { running: false };
    if (graceMs) throw unsupported("graceMs");
    if (scope !== undefined && scope !== "group") throw unsupported(`scope ${scope}`);
    return this.#process.terminate();
  }

  async holders(): Promise<never> {
    this.#mustBeUp();
    throw unsupported("holders");
  }

  async activity(): Promise<never> {
    this.#mustBeUp();
    throw unsupported("activity");
  }

  async #write(bytes: Buffer, writeId: string | undefined): Promise<WriteStatus> {
    if (writeId !== undefined && this.#process.state !== "removed" && this.#ledger.knows(writeId, bytes)) {
      return "accepted";
    }
    const closed = this.#whyClosed();
    if (closed) return closed;
    const status = await this.#send(bytes, writeId ?? newUuid());
    if (status !== "accepted") return status;
    if (writeId !== undefined) this.#ledger.remember(writeId, bytes);
    if (bytes.length > 0) this.#atLineStart = bytes[bytes.length - 1] === NEWLINE;
    return status;
  }

  /** Throws PROCESS_STARTING or PROCESS_UNKNOWN before and after. */
  #mustBeUp(): void {
    const { state, id } = this.#process;
    if (state === "starting") throw new ExecwireError("PROCESS_STARTING", `process ${id} is starting`);
    if (state === "removed") throw unknownProcess(id);
  }

  /** Why nothing can be written; the server would accept bytes for a process that has exited. */
  #whyClosed(): WriteStatus | undefined {
    const { state, info, log } = this.#process;
    if (log.failure && state !== "removed") throw log.failure;
    if (state === "starting") return "starting";
    if (state === "removed") return "unknownProcess";
    return state !== "running" || !info.stdin || this.#stdinEnded ? "stdinClosed" : undefined;
  }

  async #send(bytes: Buffer, writeId: string): Promise<WriteStatus> {
    const params = { processId: this.#process.id, chunk: bytes.toString("base64"), writeId };
    try {
      const answer = await this.#calls.call("process/write", params, { afterLoss: "repeat", mayBlock: true });
      return answerOf(writeResult, answer).status;
    } catch (error) {
      // The server's words for a process that was terminated.
      if (error instanceof CodexError && /failed to write/i.test(error.message)) return "stdinClosed";
      return refused(error as CodexError | ExecwireError);
    }
  }
}

/** The error for an id that nobody has, or has any more. */
export function unknownProcess(processId: string): ExecwireError {
  const text = `this client has no process ${processId}; it may have been removed after its end, or be another client's`;
  return new ExecwireError("PROCESS_UNKNOWN", text);
}
