// What a process is doing, from /proc (Linux): its own state if that is conclusive, else the most informative state among its
// foreground descendants. A snapshot: nothing is stopped, measured or read twice.
//
// Observed states (Linux 6.18, x64, own processes; `syscall` and `mem` need permission to trace):
//   cat, read of sh, input() of Python, less      in read, with the descriptor as its argument
//   a prompt of bash or Python (readline)         in select for stdin alone; the set is in its memory
//   Node, anything with an event loop             in epoll; /proc/PID/fdinfo lists the descriptors it watches
//   sh waiting for a command                      in wait4; `wait` of dash and timeout(1) in sigsuspend
//   a terminal touched from the background        state T
import type { Activity, ActivityState } from "../../../protocol/index.ts";
import { leadsTo, mayBlockReader, type StreamFile } from "./open-files.ts";
import { childrenOf, descriptorsOf, type ProcessEntry, readCommand, readProcess, readThreads } from "./proc.ts";
import { type InputKind, type Wait, waitOf } from "./wait-call.ts";

/** The search ends after this many processes. */
const MAX_PROCESSES = 1000;

/** Most informative first. A process that reads stdin is in the foreground: a background job has no stdin or is stopped. */
const RANK: readonly ActivityState[] = [
  "reading-stdin",
  "running",
  "polling-stdin",
  "stopped",
  "waiting-for-io",
  "waiting-for-children",
  "sleeping",
  "exited",
];

/** A process and its state. */
interface Finding {
  readonly state: ActivityState;
  readonly pid: number;
}

/**
 * What one of our children is doing. `stdin` is the stream it may wait for; `waitOfThread` finds what a thread waits for. The
 * work may be interrupted at each yield.
 */
export function* findActivity(
  leader: number,
  stdin: StreamFile | undefined,
  waitOfThread = waitOf,
): Generator<void, Activity> {
  const process = readProcess(leader);
  const { state, pid } = process
    ? yield* new ActivitySearch(process, stdin, waitOfThread).find(process)
    : { state: "exited" as const, pid: leader };
  return state === "exited" ? { state } : { state, pid, command: readCommand(pid) };
}

/** Searches one child and its descendants, once. */
class ActivitySearch {
  readonly #leader: ProcessEntry;
  readonly #stdin: StreamFile | undefined;
  readonly #waitOf: typeof waitOf;
  readonly #seen = new Set<number>();

  constructor(leader: ProcessEntry, stdin: StreamFile | undefined, waitOfThread: typeof waitOf) {
    this.#leader = leader;
    this.#stdin = stdin;
    this.#waitOf = waitOfThread;
  }

  *find(process: ProcessEntry): Generator<void, Finding> {
    yield;
    this.#seen.add(process.pid);
    const own = { state: this.#stateOf(process), pid: process.pid };
    if (!["polling-stdin", "waiting-for-children", "sleeping"].includes(own.state)) return own;
    let best: Finding | undefined;
    for (const child of this.#foregroundOf(process, own.state)) {
      if (this.#seen.has(child.pid) || this.#seen.size >= MAX_PROCESSES) continue;
      const found = yield* this.find(child);
      if (found.state !== "exited" && (!best || rank(found) < rank(best))) best = found;
    }
    return best ? combine(own, best) : own;
  }

  /** The state of one process, descendants aside: any of its threads may be the one that runs or reads. */
  #stateOf({ pid }: ProcessEntry): ActivityState {
    const threads = readThreads(pid);
    const isIn = (states: string) => threads.some(({ state }) => states.includes(state));
    if (isIn("Tt")) return "stopped";
    if (isIn("R")) return "running";
    if (isIn("D")) return "waiting-for-io";
    const states = threads.flatMap((thread) =>
      thread.state === "S" ? this.#stateIn(this.#waitOf(pid, thread.pid), pid) : [],
    );
    return RANK.find((state) => states.includes(state)) ?? (isIn("SI") ? "sleeping" : "exited");
  }

  #stateIn(wait: Wait, pid: number): ActivityState {
    switch (wait.for) {
      case "input":
        return ("fd" in wait ? this.#isStdin(pid, wait.fd) : this.#canOnlyBeStdin(pid, wait.kind))
          ? "reading-stdin"
          : "sleeping";
      case "any":
        if (!wait.fds.some((fd) => this.#isStdin(pid, fd))) return "sleeping";
        return wait.alone && wait.fds.every((fd) => this.#isStdin(pid, fd)) ? "reading-stdin" : "polling-stdin";
      case "children":
        return aliveChildren(pid).length > 0 ? "waiting-for-children" : "sleeping";
      case "something":
        return "sleeping";
    }
  }

  #isStdin(pid: number, fd: number): boolean {
    return this.#isStdinAt(`/proc/${pid}/fd/${fd}`, pid);
  }

  #isStdinAt(path: string, pid: number): boolean {
    return this.#stdin !== undefined && leadsTo(path, this.#stdin, { pid, leader: this.#leader.pid });
  }

  /** For a read of an unknown descriptor: whether stdin is the only open file on which the process could sleep like this. */
  #canOnlyBeStdin(pid: number, kind: InputKind): boolean {
    if ((this.#stdin?.terminal ? "tty" : "pipe") !== kind) return false;
    const candidates = descriptorsOf(pid).filter((path) => mayBlockReader(path, kind));
    return candidates.length > 0 && candidates.every((path) => this.#isStdinAt(path, pid));
  }

  /** The children that run in the foreground of a process in this state, without its background jobs. */
  #foregroundOf({ pid, group }: ProcessEntry, state: ActivityState): ProcessEntry[] {
    const { foreground } = this.#leader;
    const children = aliveChildren(pid);
    const shown = children.filter((child) => child.group === foreground);
    if (state !== "waiting-for-children")
      return children.filter((child) => child.group === group || shown.includes(child));
    return shown.length > 0 ? shown : children;
  }
}

/** If a process only waits for its children, their state decides; otherwise only a more informative state replaces its own. */
function combine(own: Finding, child: Finding): Finding {
  if (own.state === "waiting-for-children") return rank(child) < rank(own) ? child : { ...own, pid: child.pid };
  if (own.state === "polling-stdin") return rank(child) < rank(own) ? child : own;
  return rank(child) < RANK.indexOf("waiting-for-children") ? child : own;
}

function rank({ state }: Finding): number {
  return RANK.indexOf(state);
}

function aliveChildren(pid: number): ProcessEntry[] {
  return childrenOf(pid).flatMap((child) => {
    const entry = readProcess(child);
    return entry && entry.parent === pid && !"ZX".includes(entry.state) ? entry : [];
  });
}
