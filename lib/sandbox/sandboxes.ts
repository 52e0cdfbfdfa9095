// Spawns a command in a sandbox, and waits until it is set up: a failed set-up rejects the start, so that an exit code is always
// the command's own.
import { Socket } from "node:net";
import type { SandboxPolicy, SignalName } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import { ExecwireError, oneLine } from "../errors.ts";
import type { Child, Launch, SandboxCalls, Spawner } from "../spawn/child.ts";
import { firstChildren, readProcess } from "../spawn/proc/proc.ts";
import { hostSignalNumber } from "../spawn/signals.ts";
import { Ceiling } from "./ceiling.ts";
import { type Helpers, unavailable } from "./helpers.ts";
import { Launcher } from "./launcher.ts";
import type { SandboxNetwork } from "./sandbox-network.ts";
import { SandboxedChild } from "./sandboxed-child.ts";
import { hintFor } from "./unavailable-hints.ts";

/** The name of the sandbox in process descriptions: the exec-server's word for bubblewrap with a seccomp filter. */
export const SANDBOX_NAME = "linuxSeccomp";

/** Most bytes of what a failed set-up printed that are shown. */
const SHOWN_BYTES = 4096;

/** How long a set-up may take; usually it takes milliseconds. */
const SETUP_TIMEOUT_MS = 10_000;

/** How a supervisor uses sandboxes. */
export interface SandboxesOptions {
  /** Default: where the system has them. */
  readonly helpers?: Helpers;
  readonly widest?: SandboxPolicy | undefined;
}

/** The sandboxes of one supervisor. */
export class Sandboxes {
  readonly #clock: Clock;
  readonly #helpers: Helpers | undefined;
  readonly #ceiling: Ceiling | undefined;
  #launcher: Launcher | undefined;

  /** Throws INVALID_PARAMS if `widest`, the policy that no command may widen, is invalid. */
  constructor(clock: Clock, { helpers, widest }: SandboxesOptions = {}) {
    this.#clock = clock;
    this.#helpers = helpers;
    this.#ceiling = widest && new Ceiling(widest);
  }

  /** The spec with the sandbox that applies to it. Throws FORBIDDEN if its own would be wider than that of all. */
  confine<Spec extends { readonly sandbox?: SandboxPolicy }>(spec: Spec): Spec {
    return this.#ceiling ? { ...spec, sandbox: this.#ceiling.under(spec.sandbox) } : spec;
  }

  /** The real path of bubblewrap; rejects with SANDBOX_UNAVAILABLE if sandboxes do not work here. */
  async bubblewrap(spawner: Spawner): Promise<string> {
    return (await this.#launcherFor(callsOf(spawner)).probe()).bubblewrap;
  }

  /**
   * Spawns it; rejects with SANDBOX_FAILED, with SANDBOX_UNAVAILABLE, or as `Spawner.spawn` does, and leaves nothing behind. It
   * closes the network, which a policy with a managed one needs, with the child or when it rejects.
   */
  async spawn(spawner: Spawner, launch: Launch, policy: SandboxPolicy, network?: SandboxNetwork): Promise<Child> {
    try {
      await this.#ceiling?.checkLinks(policy);
      if (typeof policy.network === "object" && !network) throw unavailable("there is no managed network for it");
      return await this.#spawn(spawner, launch, policy, network);
    } catch (error) {
      network?.close();
      throw error;
    }
  }

  #launcherFor(calls: SandboxCalls): Launcher {
    this.#launcher ??= new Launcher(calls, this.#helpers);
    return this.#launcher;
  }

  async #spawn(
    spawner: Spawner,
    launch: Launch,
    policy: SandboxPolicy,
    network: SandboxNetwork | undefined,
  ): Promise<Child> {
    const calls = callsOf(spawner);
    const prepared = await this.#launcherFor(calls).prepare(launch, policy, network);
    const { launch: wrapped, ready, closeInherited, cleanUp } = prepared;
    const isReady = untilReady(ready);
    try {
      const child = await spawner.spawn(wrapped).finally(closeInherited);
      const cancel = this.#clock.after(SETUP_TIMEOUT_MS, () => child.kill("SIGKILL", "tree"));
      if (!(await isReady.finally(cancel))) throw failed(await outputOf(child));
      network?.entered();
      const { pid } = child;
      const signalPid = (signal: SignalName) => signalCommand(calls, pid, signal);
      return new SandboxedChild(child, { signalCommand: signalPid, cleanUp, network });
    } catch (error) {
      cleanUp();
      throw error;
    }
  }
}

function callsOf({ calls }: Spawner): SandboxCalls {
  if (!calls) throw unavailable("it needs Linux and the posix spawner, which is not in use here");
  return calls;
}

/** Whether a byte comes before the end. Closes the descriptor. */
function untilReady(fd: number): Promise<boolean> {
  return new Promise((resolve) => {
    const pipe = new Socket({ fd, readable: true, writable: false });
    const settle = (isReady: boolean) => {
      pipe.destroy();
      resolve(isReady);
    };
    pipe.once("data", () => settle(true));
    pipe.once("error", () => settle(false));
    pipe.once("close", () => settle(false));
  });
}

/** What a child that is about to end prints; settles after its end, when its pid is released. */
function outputOf(child: Child): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    child.events$.subscribe({
      next: (event) => {
        if (event.type !== "output" || bytes >= SHOWN_BYTES) return;
        chunks.push(event.chunk);
        bytes += event.chunk.length;
      },
      complete: () => {
        child.release();
        resolve(oneLine(Buffer.concat(chunks).toString().slice(0, SHOWN_BYTES), "; "));
      },
    });
  });
}

/**
 * Signals the command alone: the first child of the first child of bubblewrap. Returns false if it is gone. The reference to the
 * process is taken before its parent is checked, so that a pid that was reused meanwhile is never signalled.
 */
function signalCommand(calls: SandboxCalls, bubblewrap: number, signal: SignalName): boolean {
  const [init] = firstChildren(bubblewrap);
  const [command] = init === undefined ? [] : firstChildren(init);
  const number = hostSignalNumber(signal);
  if (command === undefined || number === undefined) return false;
  const handle = calls.openProcess(command);
  if (!handle) return false;
  try {
    if (readProcess(command)?.parent !== init) return false;
    handle.signal(number);
    return true;
  } catch {
    return false;
  } finally {
    handle.close();
  }
}

function failed(said: string): ExecwireError {
  const reason = [hintFor(said), said === "" ? "" : `[${said}]`].filter(Boolean).join(" ");
  return new ExecwireError("SANDBOX_FAILED", `the sandbox could not be set up${reason === "" ? "" : `: ${reason}`}`);
}
