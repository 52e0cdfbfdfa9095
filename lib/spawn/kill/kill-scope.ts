// Which processes a signal reaches. The child leads its own session and group, so both are numbered by its pid; the leader's
// zombie keeps that number reserved until `release`.
//
// Invariants
// 1. A process is signalled only if it provably descends from the child: it is in the child's session, has its mark, was a member
//    before, or descends from such a process. Open files prove nothing, since descriptors can be passed; they only decide
//    between the few children that may have had the same mark.
// 2. After `release` only the rest of the session and its descendants are members. Processes that had left the session were
//    detached on purpose.
import { statSync } from "node:fs";
import type { KillScope, SignalName } from "../../../protocol/index.ts";
import { ExecwireError } from "../../errors.ts";
import type { SessionProof } from "../child.ts";
import type { Libc } from "../posix/libc.ts";
import { findHolders, findOpenFiles, type StreamFile } from "../proc/open-files.ts";
import { type ProcessEntry, readProcess } from "../proc/proc.ts";
import type { ProcTable } from "../proc/proc-table.ts";
import { finish } from "../proc/slices.ts";
import { hostSignalNumber } from "../signals.ts";
import { isSpawnedChild, type Marks } from "./marks.ts";

/** Marks and system calls, which only the posix spawner has. */
export interface PosixContext {
  readonly marks: Marks;
  readonly libc: Libc;
}

/** Sends signals to a child and its descendants. */
export class Killer {
  readonly #pid: number;
  readonly #io: { readonly files: readonly StreamFile[] };
  readonly #table: ProcTable;
  readonly #posix: PosixContext | undefined;
  /** Start times of members found earlier, by pid: once their parent is gone, nothing else links them to the child. */
  readonly #remembered = new Map<number, number>();
  #isReleased = false;
  #proof: SessionProof | undefined;

  constructor(pid: number, io: { readonly files: readonly StreamFile[] }, table: ProcTable, posix?: PosixContext) {
    this.#pid = pid;
    this.#io = io;
    this.#table = table;
    this.#posix = posix;
  }

  /**
   * Sends `signal` to every process in `scope`. `reserved`: the leader's pid cannot have been reused; otherwise only proven
   * members are reached. Throws SIGNAL_FAILED if there were processes and none could be signalled.
   */
  kill(signal: SignalName, scope: KillScope, reserved: boolean): void {
    const number = hostSignalNumber(signal);
    if (number === undefined) {
      throw new ExecwireError("INVALID_PARAMS", `signal must be a signal of this system, got ${signal}`, {
        data: { field: "signal" },
      });
    }
    const outcomes: Outcome[] = [];
    if (scope !== "process" && isWide(scope)) {
      // Search before any of them dies: an orphan may be untraceable afterwards.
      const members = this.#members(scope, reserved);
      // The group in one call, so that no member escapes by forking.
      if (reserved) outcomes.push(this.#sendToGroup(number));
      const rest = members.filter((entry) => !reserved || entry.group !== this.#pid);
      for (const entry of rest) outcomes.push(this.#sendTo(entry, number));
      if (signal === "SIGKILL" && (members.length > 1 || this.#proof)) this.#killForked(scope, reserved, members);
    } else if (reserved) {
      outcomes.push(scope === "process" ? send(this.#pid, number) : this.#sendToGroup(number));
    } else if (scope === "group") {
      for (const entry of this.#members(scope, reserved)) outcomes.push(this.#sendTo(entry, number));
    }
    const failure = outcomes.find((outcome) => outcome instanceof ExecwireError);
    if (failure && !outcomes.includes("sent")) throw failure;
  }

  /** Whether any process in scope is left, zombies aside. */
  hasSurvivors(scope: KillScope, reserved: boolean): boolean {
    if (process.platform !== "linux" || scope === "process") return false;
    return (this.#proof && this.#isForking()) || this.#members(scope, reserved).length > 0;
  }

  /** The child printed something, perhaps a pid, and a reader may act on it: the next kill scans again. */
  onOutput(): void {
    this.#table.invalidate();
  }

  /** The leader's pid may be reused from now on: until `release` its session consists of its current members. */
  rememberSession(): void {
    if (process.platform !== "linux") return;
    for (const entry of this.#table.entries)
      if (entry.session === this.#pid) this.#remembered.set(entry.pid, entry.startTime);
  }

  /** Invariant 2. `proof` identifies the processes that belong to the session; without it, the remembered ones do. */
  release(proof: SessionProof | undefined): void {
    this.#isReleased = true;
    this.#proof = proof;
    // A tree kill that the child survived may have recorded processes that were detached on purpose.
    if (proof) this.#remembered.clear();
  }

  /** The session has a member that the scan missed: a job forked its successor and exited meanwhile. */
  #isForking(): boolean {
    const isSeen = this.#table.has(this.#pid) || this.#table.entries.some(({ session }) => session === this.#pid);
    return !isSeen && this.#posix?.libc.isPidInUse(this.#pid) === true;
  }

  /** A child that has not created its group yet (node-pty returns before it has) is signalled alone. */
  #sendToGroup(signal: number): Outcome {
    const outcome = send(-this.#pid, signal);
    return outcome === "gone" ? send(this.#pid, signal) : outcome;
  }

  /** Through a pidfd if the system has them: the pid may be reused at any moment. */
  #sendTo({ pid, startTime }: ProcessEntry, signal: number): Outcome {
    const handle = this.#posix?.libc.openProcess(pid);
    try {
      if (readProcess(pid)?.startTime !== startTime) return "gone";
      return handle ? outcomeOf(pid, () => handle.signal(signal)) : send(pid, signal);
    } finally {
      handle?.close();
    }
  }

  #killForked(scope: WideScope, reserved: boolean, killed: readonly ProcessEntry[]): void {
    const reached = new Set(killed.map(identity));
    this.#table.repeat(() => {
      const fresh = this.#members(scope, reserved).filter((entry) => !reached.has(identity(entry)));
      for (const entry of fresh) {
        reached.add(identity(entry));
        this.#sendTo(entry, 9);
      }
      return fresh.length > 0;
    });
  }

  /** Invariant 1: the members in scope, zombies aside. */
  #members(scope: "group" | WideScope, reserved: boolean): readonly ProcessEntry[] {
    const alive = this.#table.entries.filter(isAlive);
    const inSession = alive.filter((entry) => this.#isInSession(entry, reserved));
    if (scope === "group") return inSession.filter((entry) => entry.group === this.#pid);
    if (scope === "session") return inSession;
    const known = alive.filter((entry) => this.#isRemembered(entry));
    const marked = this.#isReleased ? [] : this.#findMarked(alive);
    const members = closure([...inSession, ...known, ...marked], alive);
    for (const { pid, startTime } of members) this.#remembered.set(pid, startTime);
    return members;
  }

  #findMarked(alive: readonly ProcessEntry[]): readonly ProcessEntry[] {
    const marks = this.#posix?.marks;
    if (!marks) return [];
    const owned = alive.filter(({ pid }) => marks.ownerOf(pid) === this.#pid);
    const possible = alive.filter(({ pid }) => !isSpawnedChild(pid) && marks.mayDescend(pid, this.#pid));
    const open = finish(findOpenFiles(possible.map(({ pid }) => pid)));
    const holders = finish(findHolders(this.#io.files, open, this.#pid));
    return [...owned, ...possible.filter(({ pid }) => holders.has(pid))];
  }

  #isInSession(entry: ProcessEntry, reserved: boolean): boolean {
    if (entry.session !== this.#pid || !isAlive(entry)) return false;
    if (reserved || this.#isRemembered(entry)) return true;
    // While a session has members, its number is not given to another process.
    if (!this.#proof || this.#table.has(this.#pid)) return false;
    const { reservedUntil, marks } = this.#proof;
    // A pid is not reused within a tick (10 ms), or start times could not identify processes.
    if (entry.startTime <= reservedUntil) return true;
    return marks.includes(this.#posix?.marks.markOf(entry.pid) ?? Number.NaN);
  }

  #isRemembered({ pid, startTime }: ProcessEntry): boolean {
    return this.#remembered.get(pid) === startTime;
  }
}

/** Scopes that need a scan of the whole system. */
type WideScope = "session" | "tree";

/** The outcome of one kill(2). `gone`: the process had already ended, which is no failure. */
type Outcome = "sent" | "gone" | ExecwireError;

function isWide(scope: KillScope): scope is WideScope {
  return process.platform === "linux" && (scope === "session" || scope === "tree");
}

function isAlive({ state }: ProcessEntry): boolean {
  return state !== "Z";
}

/** The roots, their descendants, and the sessions that these lead: children of a daemon are soon reparented. */
function closure(roots: readonly ProcessEntry[], all: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const members = new Map(roots.flatMap((entry) => (entry.pid === process.pid ? [] : [[entry.pid, entry]])));
  for (let size = -1; size !== members.size; ) {
    size = members.size;
    for (const entry of all) {
      if (entry.pid !== process.pid && (members.has(entry.parent) || members.has(entry.session)))
        members.set(entry.pid, entry);
    }
  }
  return [...members.values()];
}

function identity({ pid, startTime }: ProcessEntry): string {
  return `${pid}@${startTime}`;
}

function send(pid: number, signal: number): Outcome {
  return outcomeOf(Math.abs(pid), () => process.kill(pid, signal));
}

/** Whose process it is, if that is the reason. */
function ownerOf(pid: number): string {
  const own = process.getuid?.();
  const owner = statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid;
  if (owner === undefined || owner === own) return "";
  return owner === 0 ? ", which belongs to root" : `, which belongs to user ${owner}`;
}

function outcomeOf(pid: number, act: () => unknown): Outcome {
  try {
    act();
    return "sent";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ESRCH") return "gone";
    const message = `cannot signal process ${pid}${ownerOf(pid)}: ${code}`;
    return new ExecwireError("SIGNAL_FAILED", message, { data: { pid }, cause: error });
  }
}
