// The port of a process at a Codex exec-server. What the protocol cannot express is refused by name. What can be answered here is
// not requested: the server handles the requests of a connection one after another.
import type { Limits, ReadResult, SignalName, TerminalSize, WriteStatus } from "../../../protocol/index.ts";
import { abortable } from "../../abort.ts";
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
import { checkStarted } from "../../process/refusals.ts";
import { UnansweredWrites } from "../../process/unanswered-writes.ts";
import { CodexError } from "../codex-error.ts";
import { answerOf, writeResult } from "./answers.ts";
import type { CodexCalls } from "./calls.ts";
import type { CodexProcess } from "./codex-process.ts";
import { refused } from "./refusals.ts";
import { unsupported } from "./start-params.ts";

const EOF = 0x04;
const NEWLINE = 0x0a;

/** Sends commands to a process of this client; all handles of the process share one port. */
export class CodexPort implements ProcessPort {
  readonly #process: CodexProcess;
  readonly #calls: CodexCalls;
  readonly #clock: Clock;
  readonly #ledger: WriteLedger;
  /** Each write waits for the previous one, since a server may handle requests concurrently. */
  readonly #writes = new Mutex();
  readonly #unanswered: UnansweredWrites;
  #atLineStart = true;
  #stdinEnded = false;

  constructor(process: CodexProcess, calls: CodexCalls, clock: Clock, limits: Limits) {
    this.#process = process;
    this.#calls = calls;
    this.#clock = clock;
    this.#ledger = new WriteLedger(limits.writeIds);
    this.#unanswered = new UnansweredWrites(limits);
  }

  /** Reads the local log: the server would answer nothing else on this connection while a read waits. */
  async read(options: ReadCallOptions = {}): Promise<ReadResult> {
    const { follower, id, state } = this.#process;
    checkStarted(id, state);
    // While the connection is lost, an empty answer would only mean that nothing is known.
    if (follower.recovered) await abortable(follower.recovered, options.signal);
    return read(this.#process.log, options, this.#clock);
  }

  write(chunk: Uint8Array, { writeId }: WriteOptions = {}): Promise<WriteStatus> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    return this.#unanswered.make(bytes.length, () => this.#writes.run(() => this.#write(bytes, writeId)));
  }

  /** Sends a tty its end-of-file character. The protocol cannot close a pipe. */
  async closeStdin(): Promise<WriteStatus> {
    return this.#writes.run(async () => {
      const closed = this.#whyClosed();
      if (closed) return this.#stdinEnded && closed === "stdinClosed" ? "accepted" : closed;
      if (!this.#process.info.tty) throw unsupported("closeStdin");
      // In the middle of a line, the first end-of-file character only ends the line.
      const status = await this.#send(Buffer.alloc(this.#atLineStart ? 1 : 2, EOF), newUuid());
      this.#stdinEnded = status === "accepted";
      return status;
    });
  }

  async signal(signal: SignalName, { scope = "group" }: SignalOptions = {}): Promise<void> {
    if (this.#process.state !== "running") return;
    if (signal !== "SIGINT") throw unsupported(`signal ${signal}`);
    if (scope !== "group") throw unsupported(`scope ${scope}`);
    // A second interrupt may end a program that handles one, so it is not repeated if it is unknown whether it arrived.
    const params = { processId: this.#process.id, signal: "interrupt" };
    await this.#calls.call("process/signal", params, { afterLoss: "fail" }).catch(refused);
  }

  async resize(_size: TerminalSize): Promise<void> {
    const { tty } = this.#process.info;
    if (!tty) throw new ExecwireError("UNSUPPORTED", `process ${this.#process.id} has no terminal to be resized`);
    if (this.#process.state === "running") throw unsupported("resize");
  }

  /** SIGKILL to the process group, at once: the protocol has no other way, so a grace is refused. */
  async terminate({ graceMs, scope }: TerminateOptions = {}): Promise<{ readonly running: boolean }> {
    const { state } = this.#process;
    // An explicit scope asks to end what an exited process left behind, which the protocol cannot reach.
    if (state === "exited" && scope !== undefined) throw unsupported(`scope ${scope} after the exit`);
    if (state !== "starting" && state !== "running") return { running: false };
    if (graceMs) throw unsupported("graceMs");
    if (scope !== undefined && scope !== "group") throw unsupported(`scope ${scope}`);
    return this.#process.terminate();
  }

  async holders(): Promise<never> {
    checkStarted(this.#process.id, this.#process.state);
    throw unsupported("holders");
  }

  async activity(): Promise<never> {
    checkStarted(this.#process.id, this.#process.state);
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

  /** Why nothing can be written; checked here, since the server accepts bytes for a process that has exited. */
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
      // The server's message for a process that was terminated.
      if (error instanceof CodexError && /failed to write/i.test(error.message)) return "stdinClosed";
      return refused(error as CodexError | ExecwireError);
    }
  }
}
