// What a spec file leaves behind in its worker: child processes, and everything else that keeps Node running. Jest itself has
// some, so only what did not exist before the file counts. LEFTOVERS=1 also names the lines that made the timers, which is slow.
import { createHook } from "node:async_hooks";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Where each pending timer was created. */
const timers = new Map();
if (process.env.LEFTOVERS) {
  Error.stackTraceLimit = 30;
  createHook({
    init(id, type, _, timer) {
      if (type === "Timeout") timers.set(id, { timer: new WeakRef(timer), stack: new Error().stack });
    },
    destroy: (id) => timers.delete(id),
  }).enable();
}

/** What existed before a spec file; `check` rejects if there is more after it. */
export class Leftovers {
  #path;
  #children = new Set(children());
  #resources = counts();

  constructor(path) {
    this.#path = path;
  }

  /**
   * Waits a while for what is about to end: a socket closes a moment after its peer. It may find timers of an earlier file:
   * a client that was not closed waits in the background until it notices that its server is silent, and then tries to reconnect.
   * A test that failed (`failures`) may be the reason, so the error names them all.
   */
  async check(failures, deadlineMs = 10_000) {
    const end = Date.now() + deadlineMs;
    let left = this.#find();
    while (left.length > 0 && Date.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      left = this.#find();
    }
    if (left.length === 0) return;
    const message = `the specs of ${this.#path} leave behind: ${[...left, ...timersMade()].join("; ")}`;
    const error = new Error([message, ...failures].join("\n\nafter a failed test: "));
    // Jest shows the stack, which would be of this file and not of the spec.
    error.stack = error.message;
    throw error;
  }

  #find() {
    const processes = children().filter((pid) => !this.#children.has(pid));
    const resources = Object.entries(counts()).filter(([name, count]) => count > (this.#resources[name] ?? 0));
    return [
      ...processes.map((pid) => `process ${pid} (${commandOf(pid)})`),
      ...resources.map(([name, count]) => `${count - (this.#resources[name] ?? 0)} ${name}`),
    ];
  }
}

/** For each timer that keeps Node running, its milliseconds and the lines of this project that created it. */
function timersMade() {
  return [...timers.values()].flatMap(({ timer, stack }) => {
    const found = timer.deref();
    if (!found?.hasRef() || stack.includes("Leftovers.check")) return [];
    const lines = stack.match(/(lib|protocol|spec|node_modules)\/[^)\n]+/g) ?? [];
    return [`\n  a timer of ${found._idleTimeout} ms: ${lines.slice(1, 6).join(" < ")}`];
  });
}

/** Pids of our children, including zombies; none without /proc. */
function children() {
  if (!existsSync("/proc/self/task")) return [];
  return readdirSync("/proc/self/task").flatMap((thread) => {
    try {
      return readFileSync(`/proc/self/task/${thread}/children`, "latin1").split(" ").filter(Boolean).map(Number);
    } catch {
      // The thread has ended.
      return [];
    }
  });
}

function commandOf(pid) {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim();
    return command.slice(0, 200) || "a zombie";
  } catch {
    return "ended by now";
  }
}

/** How many of each kind keep Node running; timers and handles that are unref'd are not among them. */
function counts() {
  // Node makes these streams when they are first used, by whichever file that is.
  void [process.stdin, process.stdout, process.stderr];
  const numbers = {};
  for (const name of process.getActiveResourcesInfo()) numbers[name] = (numbers[name] ?? 0) + 1;
  return numbers;
}
