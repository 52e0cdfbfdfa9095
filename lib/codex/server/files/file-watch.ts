// The one watch of a connection. As in the exec-server, watch ids only increase: a higher id replaces the current watch, even
// if the new one then fails; a lower or equal id is outdated and is not watched. A client that forgets to end watches leaves
// none behind.
import { type MissingWatch, watchMissing } from "../../../files/watch-missing.ts";
import type { PathUri } from "../../path-uri.ts";
import { filePath } from "./file-path.ts";

/** The exec-server's limit on the paths of one watch; a request with more is not watched. */
const MAX_MISSING = 64;

/** A watch whose notification is held back until the reply to its request was sent. */
export interface PendingWatch {
  /** Starts notifications; a change that has already happened is reported at once. */
  begin(): void;
}

/** At most one watch at a time. */
export class FileWatch {
  readonly #onChange: (watchId: number) => void;
  #latest = -1;
  #watch: MissingWatch | undefined;

  constructor(onChange: (watchId: number) => void) {
    this.#onChange = onChange;
  }

  /**
   * Replaces the watch. The callback is called at most once per id. Returns undefined if there is nothing to watch or the id is
   * outdated.
   */
  async replace(
    watchId: number,
    missing: readonly PathUri[],
    present: PathUri | undefined,
  ): Promise<PendingWatch | undefined> {
    if (watchId <= this.#latest) return undefined;
    this.close();
    this.#latest = watchId;
    const paths = pathsHere(missing, present);
    if (!paths || missing.length > MAX_MISSING) return undefined;
    let hasBegun = false;
    let hasChanged = false;
    const notify = () => {
      hasChanged = true;
      if (hasBegun && this.#watch === watch) this.#onChange(watchId);
    };
    const watch = await watchMissing(paths, notify);
    if (this.#latest !== watchId) {
      watch?.close();
      return undefined;
    }
    this.#watch = watch;
    const begin = () => {
      hasBegun = true;
      if (hasChanged) notify();
    };
    return watch && { begin };
  }

  /** Ends the watch. */
  close(): void {
    this.#watch?.close();
    this.#watch = undefined;
  }
}

/** Undefined when a path belongs to another machine. */
function pathsHere(missing: readonly PathUri[], present: PathUri | undefined) {
  try {
    return { missing: missing.map(filePath), present: present && filePath(present) };
  } catch {
    return undefined;
  }
}
