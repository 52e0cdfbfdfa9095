// Processes as an agent's tools use them: start one, wait a little, look again, type, stop it. Over any backend; everything is
// answered as plain data, and nothing outlives `close`.
import { type ProcessSpec, present, limits as protocolLimits, type SignalName } from "../../protocol/index.ts";
import { type Clock, systemClock } from "../clock.ts";
import { ExecwireError, refuse } from "../errors.ts";
import type { Backend } from "../process/backend.ts";
import { endTree } from "../process/end-tree.ts";
import type { Process } from "../process/process.ts";
import { within } from "./commands.ts";
import { checkMapping, mapCwd, type PathMapping } from "./path-mapping.ts";
import { ExecSession } from "./session.ts";
import { type ExecLimits, execLimits } from "./session-limits.ts";
import { SessionTable } from "./session-table.ts";
import type {
  ExecResult,
  ExecSessionInfo,
  ExecSignal,
  ExecStart,
  ExecStop,
  ExecWrite,
  YieldOptions,
} from "./session-types.ts";
import { pollWait, startWait, writeWait } from "./session-waits.ts";

/** How to keep sessions. */
export interface ExecSessionsOptions {
  /** Overrides of `execLimits`. */
  readonly limits?: Partial<ExecLimits>;
  /** Where the caller's workspace is on the backend's host: `cwd` is then given, and understood, in the caller's terms. */
  readonly workspace?: PathMapping;
  readonly clock?: Clock;
}

/** Makes a set of exec sessions. `close` it, or use it with `await using`: the backend stays open and is the caller's. */
export function openExecSessions(backend: Backend, options: ExecSessionsOptions = {}): ExecSessions {
  return new ExecSessions(backend, options);
}

/** Exec sessions, addressed by small numbers that are never used again. */
export class ExecSessions {
  readonly #backend: Backend;
  readonly #limits: ExecLimits;
  readonly #workspace: PathMapping | undefined;
  readonly #clock: Clock;
  readonly #table: SessionTable;
  /** Starts on their way: until the process runs there is no session. */
  readonly #starting = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(backend: Backend, options: ExecSessionsOptions) {
    this.#backend = backend;
    this.#limits = { ...execLimits, ...options.limits };
    this.#workspace = options.workspace;
    if (options.workspace) checkMapping(options.workspace);
    this.#clock = options.clock ?? systemClock;
    this.#table = new SessionTable(this.#limits.sessions);
  }

  /**
   * Starts a process, and answers when it has ended or the time is over. Rejects as `Backend.start` does, with CLOSED, and with
   * LIMIT_EXCEEDED when as many sessions as there may be are running.
   */
  async start({ yieldMs, quietMs, budget, signal, onSpawned, ...spec }: ExecStart): Promise<ExecResult> {
    const wait = startWait({ yieldMs, quietMs, budget, signal }, this.#limits);
    const session = await this.#track(this.#launch(spec, signal));
    try {
      onSpawned?.(session.process);
      return this.#answer(session, await session.take(wait));
    } catch (error) {
      // Who gave up never learns the id.
      await this.#end(session, 0);
      this.#table.remove(session);
      throw error;
    }
  }

  /**
   * Writes to stdin and answers with what comes of it; without input it polls. Rejects with PROCESS_UNKNOWN for an unknown id, and
   * as `Process.write` does.
   */
  async write(sessionId: number, { chars, bytes, eof, ...options }: ExecWrite = {}): Promise<ExecResult> {
    if (chars !== undefined && bytes !== undefined)
      refuse({ field: "bytes", message: "must not be given beside chars" });
    const input = chars ?? bytes ?? "";
    if (input.length === 0 && !eof) return this.poll(sessionId, options);
    const refused = { input: "stdinClosed" } as const;
    return this.#command(sessionId, options, refused, async ({ process }) => {
      const status = input.length > 0 ? await process.write(input) : "accepted";
      const last = eof && status === "accepted" ? await process.closeStdin() : status;
      return last === "accepted" ? last : "stdinClosed";
    });
  }

  /** Waits for what is new. Rejects with PROCESS_UNKNOWN for an unknown id. */
  async poll(sessionId: number, options: YieldOptions = {}): Promise<ExecResult> {
    const wait = pollWait(options, this.#limits);
    const found = this.#table.get(sessionId);
    return found instanceof ExecSession ? this.#answer(found, await found.take(wait)) : found.result;
  }

  /** Delivers a signal, such as SIGINT for a process on pipes, and answers with what comes of it. */
  signal(sessionId: number, name: SignalName, { scope, ...options }: ExecSignal = {}): Promise<ExecResult> {
    return this.#command(sessionId, options, {}, async ({ process }) => {
      await process.signal(name, scope && { scope });
      return undefined;
    });
  }

  /** Every session that is known, in the order of their starts. */
  list(): ExecSessionInfo[] {
    return this.#table.list();
  }

  /** The process itself, to follow it in another way. Undefined for one that is over. */
  process(sessionId: number): Process | undefined {
    const found = this.#table.get(sessionId);
    return found instanceof ExecSession ? found.process : undefined;
  }

  /**
   * Ends the process with its whole tree, answers with its last output, and forgets the session. A backend that knows no trees
   * ends what it calls a process. One that could not be ended is not forgotten, and the answer says that it has not exited.
   */
  async stop(sessionId: number, { graceMs, budget }: ExecStop = {}): Promise<ExecResult> {
    const wait = { ...pollWait({ budget }, this.#limits), yieldMs: 0, act: async () => undefined };
    const found = this.#table.get(sessionId);
    if (!(found instanceof ExecSession)) {
      this.#table.remove(found);
      return found.result;
    }
    await this.#end(found, graceMs);
    const { sessionId: id, ...result } = await found.take(wait);
    if (!result.exited && !result.failure) return { sessionId: id as number, ...result };
    this.#table.remove(found);
    return result;
  }

  /** Ends every process of these sessions with its tree, and refuses new ones. */
  close({ graceMs }: { readonly graceMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(graceMs);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(graceMs: number | undefined): Promise<void> {
    await Promise.all([...this.#table.running().map((session) => this.#end(session, graceMs)), ...this.#starting]);
    this.#table.clear();
  }

  /** Never rejects in the eyes of `close`. */
  #track<T>(starting: Promise<T>): Promise<T> {
    const settled = starting.then(
      () => undefined,
      () => undefined,
    );
    this.#starting.add(settled);
    void settled.then(() => this.#starting.delete(settled));
    return starting;
  }

  async #launch(spec: ProcessSpec, signal: AbortSignal | undefined): Promise<ExecSession> {
    signal?.throwIfAborted();
    this.#refuseIfClosed();
    const cwd = this.#workspace ? mapCwd(spec.cwd, this.#workspace) : spec.cwd;
    const id = this.#table.reserve();
    let process: Process;
    try {
      process = await this.#backend.start(present({ ...spec, cwd }));
    } catch (error) {
      this.#table.cancel(id);
      throw error;
    }
    const session = new ExecSession(id, process, this.#limits, this.#clock);
    this.#table.add(session);
    if (!this.#closing && !signal?.aborted) return session;
    await this.#end(session, 0);
    this.#table.remove(session);
    signal?.throwIfAborted();
    throw closed();
  }

  async #command(
    sessionId: number,
    options: YieldOptions,
    whenOver: Pick<ExecResult, "input">,
    act: (session: ExecSession) => Promise<ExecResult["input"]>,
  ): Promise<ExecResult> {
    const wait = writeWait(options, this.#limits);
    this.#refuseIfClosed();
    const found = this.#table.get(sessionId);
    if (!(found instanceof ExecSession)) return { ...found.result, ...whenOver };
    return this.#answer(found, await found.take({ ...wait, act: () => act(found) }));
  }

  /** One that was told to its end is kept as a few facts only. */
  #answer(session: ExecSession, result: ExecResult): ExecResult {
    if (result.sessionId === undefined) this.#table.settle(session, result);
    else this.#table.know(result.sessionId);
    return result;
  }

  async #end(session: ExecSession, graceMs: number | undefined): Promise<void> {
    const waitMs = (graceMs ?? protocolLimits.graceMs) + this.#limits.stopDeadlineMs;
    // What cannot be ended in time is seen by its state.
    await within(this.#clock, waitMs, endTree(session.process, graceMs));
  }

  #refuseIfClosed(): void {
    if (this.#closing) throw closed();
  }
}

function closed(): ExecwireError {
  return new ExecwireError("CLOSED", "the exec sessions were closed and start nothing any more");
}
