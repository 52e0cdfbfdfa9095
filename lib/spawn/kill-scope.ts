// Whom a signal reaches. The child leads its own session and group, so both have its pid for a number; the zombie of the
// leader keeps that number reserved until `release`.
import type { KillScope, SignalName } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import type { Orphans } from "./orphans.ts";
import { holdersOf, listProcesses, type ProcessEntry } from "./proc.ts";
import { signalNumber } from "./signals.ts";

/** A kill is repeated while it finds new members, since they may fork meanwhile; this ends a race that cannot be won. */
const MAX_ROUNDS = 20;

/** Sends signals to a child and what it started. */
export class Killer {
  readonly #pid: number;
  /** Names under which /proc shows the child's pipes or terminal. */
  readonly #files: ReadonlySet<string>;
  readonly #orphans: Orphans | undefined;
  /** Members found earlier: once their parent is gone, nothing else leads to them. */
  readonly #remembered = new Map<number, number>();

  constructor(pid: number, files: ReadonlySet<string>, orphans?: Orphans) {
    this.#pid = pid;
    this.#files = files;
    this.#orphans = orphans;
  }

  /**
   * Sends `signal` to everyone in `scope`. `reserved` says that the leader's pid is still its own; without it only members
   * that are known for certain are reached.
   */
  kill(signal: SignalName, scope: KillScope, reserved = true): void {
    const number = signalNumber(signal);
    if (number === undefined) {
      throw new ExecwireError("INVALID_PARAMS", `signal must be a signal of this system, got ${signal}`, {
        data: { field: "signal" },
      });
    }
    if (scope === "process") {
      if (reserved) send(this.#pid, number);
    } else if (scope === "group" || process.platform !== "linux") {
      if (reserved) send(-this.#pid, number);
    } else {
      this.#killMembers(number, scope, reserved);
    }
  }

  /** Whether anybody in scope is left, the zombies aside; the leader's pid must be reserved. */
  hasSurvivors(scope: KillScope): boolean {
    if (process.platform !== "linux" || scope === "process") return false;
    return this.#members(scope, true).some((entry) => entry.state !== "Z");
  }

  #killMembers(signal: number, scope: "session" | "tree", reserved: boolean): void {
    const reached = new Set<string>();
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const fresh = this.#members(scope, reserved).filter(
        (entry) => entry.state !== "Z" && !reached.has(identity(entry)),
      );
      if (fresh.length === 0) return;
      for (const entry of fresh) {
        reached.add(identity(entry));
        send(entry.pid, signal);
      }
    }
  }

  #members(scope: Exclude<KillScope, "process">, reserved: boolean): ProcessEntry[] {
    const all = listProcesses();
    if (scope === "group") return all.filter((entry) => entry.group === this.#pid);
    const inSession = reserved ? all.filter((entry) => entry.session === this.#pid) : [];
    if (scope === "session") return inSession;
    const holders = new Set(holdersOf(this.#files));
    const roots = all.filter((entry) => holders.has(entry.pid) || this.#remembered.get(entry.pid) === entry.startTime);
    const members = closure([...inSession, ...roots, ...(this.#orphans?.of(this.#pid) ?? [])], all);
    for (const { pid, startTime } of members) this.#remembered.set(pid, startTime);
    return members;
  }
}

/** The roots, their descendants, and the sessions that descendants lead: a daemon's own children are not its descendants for long. */
function closure(roots: readonly ProcessEntry[], all: readonly ProcessEntry[]): ProcessEntry[] {
  const members = new Map(roots.map((entry) => [entry.pid, entry]));
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

function send(pid: number, signal: number): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ESRCH: it ended meanwhile, which is what a signal is for. A group answers EPERM only if nobody in it could be reached.
    if (code === "ESRCH") return;
    throw new ExecwireError("SIGNAL_FAILED", `cannot signal ${Math.abs(pid)}: ${code}`, {
      data: { pid: Math.abs(pid) },
      cause: error,
    });
  }
}
