// Sandbox policies, as data: what a process may read, write and connect to. The kernel of the host enforces them.
import type { ManagedNetwork } from "./network.ts";

/** What a process may do with a file or directory, and with everything below it. */
export type FileAccess = "none" | "read" | "write";

/**
 * A set of paths known by name:
 * - `root` the whole file system
 * - `platform` what programs need to run: `/usr`, its links such as `/bin`, and the parts of `/etc` that hold no secrets
 * - `tmp` a `/tmp` of its own, empty at the start, in memory
 */
export type NamedPath = "root" | "platform" | "tmp";

/** Access to one path. The most specific rule wins; of two rules for the same path, the stricter. */
export interface FileRule {
  /** An absolute, normalized path, or a set of paths by name. */
  readonly path: string | { readonly named: NamedPath };
  readonly access: FileAccess;
  /**
   * If the path does not exist: `refuse` the start (the default), `skip` the rule, or `protect` it, so that a process with
   * write access to its directory cannot create it.
   */
  readonly ifMissing?: "refuse" | "skip" | "protect";
}

/** Bounds on resources, for each process in the sandbox. A limit that is absent is inherited. */
export interface ResourceBounds {
  /** CPU time in seconds; then SIGKILL. */
  readonly cpuSeconds?: number;
  readonly openFiles?: number;
  /** Size of a file that it writes, in bytes; then SIGXFSZ. */
  readonly fileBytes?: number;
  /** Size of a core dump, in bytes. */
  readonly coreBytes?: number;
}

/** What a process and all its descendants may touch. Nothing widens it once the process runs. */
export interface SandboxPolicy {
  /** Without a rule for `root`, a path that no rule covers does not exist for the process. */
  readonly files: readonly FileRule[];
  /** `full`: the host's network; `none`: only a loopback of its own; managed: that, and a proxy that judges. Default `none`. */
  readonly network?: "full" | "none" | ManagedNetwork;
  /** Whether it may connect to unix sockets, such as those of Docker or an ssh agent. Default false. */
  readonly unixSockets?: boolean;
  readonly limits?: ResourceBounds;
}
