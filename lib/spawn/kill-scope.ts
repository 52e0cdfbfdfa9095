// Whom a signal reaches. The child leads its own session and group, so both have its pid for a number; the zombie of the
// leader keeps that number reserved until `release`.
import type { KillScope, SignalName } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import type { Marks } from "./marks.ts";
import type { StreamFile } from "./open-files.ts";
import { type ProcessEntry, readProcess } from "./proc.ts";
import type { ProcTable } from "./proc-table.ts";
import { signalNumber } from "./signals.ts";

/** A kill is repeated while it finds new members, since they may fork meanwhile; this ends a race that cannot be won. */
const MAX_ROUNDS = 20;

/** What leads to those whom parents, sessions and descriptors do not lead to. */
export interface Kin {
  readonly marks: Marks;
  /** Orphans become children of this program. */
  readonly isSubreaper: boolean;
}

/** Sends signals to a child and what it started. */
export class Killer {
  readonly #pid: number;
  readonly #io: { readonly files: readonly StreamFile[] };
  readonly #table: ProcTable;
  readonly #kin: Kin | undefined;
  /** Members found earlier, with their start times: once their parent is gone, nothing else leads to them. */
  readonly #remembered = new Map<number, number>();

  constructor(pid: number, io: { readonly files: readonly StreamFile[] }, table: ProcTable, kin?: Kin) {
    this.#pid = pid;
    this.#io = io;
    this.#table = table;
    this.#kin = kin;
  }

  /**
   * Sends `signal` to everyone in `scope`. `reserved` says that the leader's pid is still its own; without it only members
   * that are known for certain are reached. Throws SIGNAL_FAILED when somebody was there and nobody could be reached.
   */
  kill(signal: SignalName, scope: KillScope, reserved: boolean): void {
    const number = signalNumber(signal);
    if (number === undefined) {
      throw new ExecwireError("INVALID_PARAMS", `signal must be a signal of this system, got ${signal}`, {
        data: { field: "signal" },
      });
    }
    const outcomes: Outcome[] = [];
    if (scope !== "process" && isWide(scope)) {
      // Found before the first of them dies: afterwards some could no longer be told from strangers.
      const members = this.#members(scope, reserved);
      // The group in one call, so that nobody in it forks past the signal.
      if (reserved) outcomes.push(this.#sendToGroup(number));
      const rest = members.filter((entry) => !reserved || entry.group !== this.#pid);
      for (const entry of rest) outcomes.push(sendTo(entry, number));
      if (signal === "SIGKILL" && members.length > 1) outcomes.push(...this.#killNewcomers(scope, reserved, members));
    } else if (reserved) {
      outcomes.push(scope === "process" ? send(this.#pid, number) : this.#sendToGroup(number));
    } else if (scope === "group") {
      for (const entry of this.#members(scope, reserved)) outcomes.push(sendTo(entry, number));
    }
    const failure = outcomes.find((outcome) => outcome instanceof ExecwireError);
    if (failure && !outcomes.includes("sent")) throw failure;
  }

  /** Whether anybody in scope is left, the zombies aside. */
  hasSurvivors(scope: KillScope, reserved: boolean): boolean {
    if (process.platform !== "linux" || scope === "process") return false;
    return this.#members(scope, reserved).length > 0;
  }

  /** The leader's number is about to be free for anybody: from now on its session is who is in it at this moment. */
  remember(): void {
    if (process.platform !== "linux") return;
    for (const entry of this.#table.entries)
      if (entry.session === this.#pid) this.#remembered.set(entry.pid, entry.startTime);
  }

  /** A child that has not yet made its group (node-pty answers before it has) is signalled alone. */
  #sendToGroup(signal: number): Outcome {
    const outcome = send(-this.#pid, signal);
    return outcome === "gone" ? send(this.#pid, signal) : outcome;
  }

  #killNewcomers(scope: WideScope, reserved: boolean, killed: readonly ProcessEntry[]): Outcome[] {
    const reached = new Set(killed.map(identity));
    const outcomes: Outcome[] = [];
    for (let round = 1; round < MAX_ROUNDS; round += 1) {
      this.#table.refresh();
      const fresh = this.#members(scope, reserved).filter((entry) => !reached.has(identity(entry)));
      if (fresh.length === 0) break;
      for (const entry of fresh) {
        reached.add(identity(entry));
        outcomes.push(sendTo(entry, 9));
      }
    }
    return outcomes;
  }

  /** Who is in scope and not a zombie. */
  #members(scope: "group" | WideScope, reserved: boolean): readonly ProcessEntry[] {
    const alive = this.#table.entries.filter((entry) => entry.state !== "Z");
    const known = alive.filter((entry) => this.#remembered.get(entry.pid) === entry.startTime);
    const ours = reserved ? alive : known;
    if (scope === "group") return ours.filter((entry) => entry.group === this.#pid);
    const inSession = ours.filter((entry) => entry.session === this.#pid);
    if (scope === "session") return inSession;
    const holders = new Set(this.#table.holdersOf(this.#io.files, this.#pid));
    const holding = alive.filter((entry) => holders.has(entry.pid) && !this.#isAnotherChild(entry));
    const marked = alive.filter(({ pid }) => this.#kin?.marks.ownerOf(pid) === this.#pid);
    const members = closure([...inSession, ...known, ...holding, ...marked], alive);
    for (const { pid, startTime } of members) this.#remembered.set(pid, startTime);
    return members;
  }

  /**
   * A child of this program is nobody else's descendant, unless it was taken in. While it is being born it has all our
   * descriptors, those of other children among them; one that child_process makes also in the moment after that shows.
   */
  #isAnotherChild({ pid, parent }: ProcessEntry): boolean {
    return parent === process.pid && pid !== this.#pid && !this.#kin?.isSubreaper;
  }
}

/** Scopes that take a look at the whole system. */
type WideScope = "session" | "tree";

/** What became of one kill(2): `gone` when there was nobody any more, which is what a signal is for. */
type Outcome = "sent" | "gone" | ExecwireError;

function isWide(scope: KillScope): scope is WideScope {
  return process.platform === "linux" && (scope === "session" || scope === "tree");
}

/** The roots, their descendants, and the sessions that descendants lead: a daemon's own children are not its descendants for long. */
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

/** Looks once more before it sends: the number may have changed hands since it was listed. */
function sendTo({ pid, startTime }: ProcessEntry, signal: number): Outcome {
  return readProcess(pid)?.startTime === startTime ? send(pid, signal) : "gone";
}

function send(pid: number, signal: number): Outcome {
  try {
    process.kill(pid, signal);
    return "sent";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ESRCH") return "gone";
    const data = { pid: Math.abs(pid) };
    return new ExecwireError("SIGNAL_FAILED", `cannot signal process ${data.pid}: ${code}`, { data, cause: error });
  }
}
