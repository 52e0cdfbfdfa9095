// Protecting a path that does not exist: bubblewrap mounts on an empty directory, which it creates on the host and leaves there.
// The directory goes when the last sandbox that protects the path has ended.
import { rmdirSync } from "node:fs";

/** Counts the sandboxes that protect each missing path. */
export class Placeholders {
  readonly #users = new Map<string, number>();

  /** Counts one more sandbox for these paths, until the function that it returns is called. */
  hold(paths: readonly string[]): () => void {
    for (const path of paths) this.#users.set(path, (this.#users.get(path) ?? 0) + 1);
    return () => {
      for (const path of paths) this.#release(path);
    };
  }

  #release(path: string): void {
    const left = (this.#users.get(path) ?? 1) - 1;
    if (left > 0) {
      this.#users.set(path, left);
      return;
    }
    this.#users.delete(path);
    try {
      // Does not remove a directory that was filled meanwhile.
      rmdirSync(path);
    } catch {
      // It was never created, was removed already, or is in use.
    }
  }
}
