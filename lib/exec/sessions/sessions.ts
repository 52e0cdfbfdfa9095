// Exec sessions: processes for the tools of an agent, which start a command, wait a little, poll, write, and stop it. They work
// over any backend; every answer is plain data, and no process outlives `close`.
import { type ProcessSpec, present, limits as protocolLimits, type SignalName } from "../../../protocol/index.ts";
import { type Clock, systemClock } from "../../clock.ts";
import { ExecwireError, refuse } from "../../errors.ts";
import type { Backend } from "../../process/backend.ts";
import { endTree } from "../../process/end-tree.ts";
import type { Process } from "../../process/process.ts";
import { within } from "../run/commands.ts";
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

/** Options of a set of exec sessions. */
export interface ExecSessionsOptions {
  /** Overrides of `execLimits`. */
  readonly limits?: Partial<ExecLimits>;
  /** The caller's workspace and its path on the backend's host. Then `cwd` is a path of the caller's machine. */
  readonly workspace?: PathMapping;
  readonly clock?: Clock;
}

/** Creates a set of exec sessions. `close` it, or use `await using`. The backend belongs to the caller and stays open. */
export function openExecSessions(backend: Backend, options: ExecSessionsOptions = {}): ExecSessions {
  return new ExecSessions(backend, options);
}

/** A set of exec sessions. Their ids are small numbers that are never reused. */
export class ExecSessions {
  readonly #backend: Backend;
  readonly #limits: ExecLimits;
  readonly #workspace: PathMapping | undefined;
  readonly #clock: Clock;
  readonly #table: SessionTable;
  /** Pending starts: there is no session until the process runs. */
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
   * Starts a process, and answers when it ends or the wait is over. Rejects as `Backend.start` does, with CLOSED after `close`,
   * and with LIMIT_EXCEEDED when too many sessions are running.
   */
  async start({ yieldMs, quietMs, budget, signal, onSpawned, ...spec }: ExecStart): Promise<ExecResult> {
    const wait = startWait({ yieldMs, quietMs, budget, signal }, this.#limits);
    const session = await this.#track(this.#launch(spec, signal));
    try {
      onSpawned?.(session.process);
      return this.#answer(session, await session.take(wait));
    } catch (error) {
      // The caller never gets the id, so it could not stop the session.
      await this.#end(session, 0);
      this.#table.remove(session);
      throw error;
    }
  }

  /**
   * Writes to stdin and answers with the output that follows; without input it polls. Rejects with PROCESS_UNKNOWN for an unknown
   * id, and as `Process.write` does.
   */
  async write(sessionId: number, { chars, bytes, eof, ...options }: ExecWrite = {}): Promise<ExecResult> {
    if (chars !== undefined && bytes !== undefined)
      refuse({ field: "bytes", message: "must not be given together with chars" });
    const input = chars ?? bytes ?? "";
    if (input.length === 0 && !eof) return this.poll(sessionId, options);
    const refused = { input: "stdinClosed" } as const;
    return this.#command(sessionId, options, refused, async ({ process }) => {
      const status = input.length > 0 ? await process.write(input) : "accepted";
      const last = eof && status === "accepted" ? await process.closeStdin() : status;
      return last === "accepted" ? last : "stdinClosed";
    });
  }

  /** Waits for new output. Rejects with PROCESS_UNKNOWN for an unknown id. */
  async poll(sessionId: number, options: YieldOptions = {}): Promise<ExecResult> {
    const wait = pollWait(options, this.#limits);
    const found = this.#table.get(sessionId);
    return found instanceof ExecSession ? this.#answer(found, await found.take(wait)) : found.result;
  }

  /** Sends a signal, such as SIGINT to a process on pipes, and answers with the output that follows. */
  signal(sessionId: number, name: SignalName, { scope, ...options }: ExecSignal = {}): Promise<ExecResult> {
    return this.#command(sessionId, options, {}, async ({ process }) => {
      await process.signal(name, scope && { scope });
      return undefined;
    });
  }

  /** All sessions, in the order of their starts. */
  list(): ExecSessionInfo[] {
    return this.#table.list();
  }

  /** The process of a session, to follow it in another way. Undefined if the session has finished. */
  process(sessionId: number): Process | undefined {
    const found = this.#table.get(sessionId);
    return found instanceof ExecSession ? found.process : undefined;
  }

  /**
   * Ends the process with its whole tree, answers with its last output, and removes the session. A backend without tree scope
   * ends the process in its own way. If the process does not end, the session stays, and the answer has `exited: false`.
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

  /** Ends every process of these sessions with its tree, and refuses new starts. */
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

  /** Lets `close` wait for a start. */
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

  /** Finishes a session that has returned everything. */
  #answer(session: ExecSession, result: ExecResult): ExecResult {
    if (result.sessionId === undefined) this.#table.finish(session, result);
    else this.#table.markReturned(result.sessionId);
    return result;
  }

  async #end(session: ExecSession, graceMs: number | undefined): Promise<void> {
    const waitMs = (graceMs ?? protocolLimits.graceMs) + this.#limits.stopDeadlineMs;
    // If the process does not end in time, its state shows it.
    await within(this.#clock, waitMs, endTree(session.process, graceMs));
  }

  #refuseIfClosed(): void {
    if (this.#closing) throw closed();
  }
}

function closed(): ExecwireError {
  return new ExecwireError("CLOSED", "these exec sessions are closed; open new ones");
}
