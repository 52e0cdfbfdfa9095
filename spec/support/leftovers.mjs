// What a spec file leaves behind in its worker: child processes, and whatever else keeps Node running. Jest itself has some of
// both, so only what was not there before the file counts. LEFTOVERS=1 also names the lines that made the timers, which takes time.
import { createHook } from "node:async_hooks";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Where each timer was made that has neither run nor been cleared. */
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

/** What was there before a spec file; `check` rejects when there is more after it. */
export class Leftovers {
  #path;
  #children = new Set(children());
  #resources = counts();

  constructor(path) {
    this.#path = path;
  }

  /**
   * Waits a while for what is about to end: a socket closes a moment after its peer. Timers of an earlier file can be among what it
   * finds: a client that was not closed waits in the background until it notices that its server is silent, and then tries to come back.
   */
  async check(deadlineMs = 10_000) {
    const end = Date.now() + deadlineMs;
    let left = this.#find();
    while (left.length > 0 && Date.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      left = this.#find();
    }
    if (left.length === 0) return;
    const message = `the specs of ${this.#path} leave behind: ${[...left, ...timersMade()].join("; ")}`;
    const error = new Error(message);
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

/** For each timer that keeps Node running, its milliseconds and the lines of this project that made it. */
function timersMade() {
  return [...timers.values()].flatMap(({ timer, stack }) => {
    const found = timer.deref();
    if (!found?.hasRef() || stack.includes("Leftovers.check")) return [];
    const lines = stack.match(/(lib|protocol|spec|node_modules)\/[^)\n]+/g) ?? [];
    return [`\n  a timer of ${found._idleTimeout} ms: ${lines.slice(1, 6).join(" < ")}`];
  });
}

/** Pids of our children, zombies included; none where there is no /proc to look at. */
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
