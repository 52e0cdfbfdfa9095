// Chooses how children are spawned on this machine.
import { isMainThread } from "node:worker_threads";
import { ExecwireError } from "../errors.ts";
import type { Spawner } from "./child.ts";
import type { Guard } from "./guard/guard.ts";
import { PortableSpawner } from "./portable/portable-spawner.ts";

/** `auto`: posix if it works, else portable. `posix`: posix_spawn or an error. `portable`: child_process and node-pty. */
export type SpawnerName = "auto" | "posix" | "portable";

/** How to spawn. */
export interface SpawnerOptions {
  readonly spawner: SpawnerName;
  readonly subreaper: boolean;
  /** A child of this program that is not a supervised process. */
  readonly guard?: Guard | undefined;
}

/** Loads a spawner. Rejects with UNSUPPORTED in a worker thread, which gets no SIGCHLD, and if `posix` cannot work here. */
export async function loadSpawner({ spawner, subreaper, guard }: SpawnerOptions): Promise<Spawner> {
  if (!isMainThread) {
    throw new ExecwireError(
      "UNSUPPORTED",
      "processes can only be supervised from the main thread: worker threads receive no SIGCHLD",
    );
  }
  if (spawner === "portable") return new PortableSpawner();
  try {
    if (process.platform !== "linux")
      throw new Error(`posix_spawn is supported on Linux only, not on ${process.platform}`);
    const [{ Libc }, { PosixSpawner }] = await Promise.all([
      import("./posix/libc.ts"),
      import("./posix/posix-spawner.ts"),
    ]);
    return new PosixSpawner(new Libc(), { subreaper, guard });
  } catch (cause) {
    if (spawner === "auto") return new PortableSpawner();
    throw new ExecwireError("UNSUPPORTED", `posix_spawn cannot be used here: ${String(cause)}`, { cause });
  }
}
