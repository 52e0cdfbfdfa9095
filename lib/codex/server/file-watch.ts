// The one watch of a connection. As in the exec-server, watch ids only rise: a higher one ends the watch before it, whatever
// comes of it, and any other is late and not watched. So a client that forgets to end watches leaves none behind.
import { type MissingWatch, watchMissing } from "../../files/watch-missing.ts";
import type { PathUri } from "../path-uri.ts";
import { filePath } from "./file-path.ts";

/** Paths of one watch that the exec-server takes; more are not watched. */
const MAX_MISSING = 64;

/** A watch that is kept and waits to be announced. */
export interface KeptWatch {
  /** From now on it may tell; what happened before is told at once. */
  begin(): void;
}

/** Watches for one thing at a time. */
export class FileWatch {
  readonly #onChange: (watchId: number) => void;
  #latest = -1;
  #watch: MissingWatch | undefined;

  constructor(onChange: (watchId: number) => void) {
    this.#onChange = onChange;
  }

  /** Watches; the callback comes once at most for an id. Undefined when there is nothing to watch, or the id is late. */
  async replace(
    watchId: number,
    missing: readonly PathUri[],
    present: PathUri | undefined,
  ): Promise<KeptWatch | undefined> {
    if (watchId <= this.#latest) return undefined;
    this.close();
    this.#latest = watchId;
    const paths = pathsHere(missing, present);
    if (!paths || missing.length > MAX_MISSING) return undefined;
    let hasBegun = false;
    let hasChanged = false;
    const tell = () => {
      hasChanged = true;
      if (hasBegun && this.#watch === watch) this.#onChange(watchId);
    };
    const watch = await watchMissing(paths, tell);
    if (this.#latest !== watchId) {
      watch?.close();
      return undefined;
    }
    this.#watch = watch;
    const begin = () => {
      hasBegun = true;
      if (hasChanged) tell();
    };
    return watch && { begin };
  }

  /** Ends the watch. */
  close(): void {
    this.#watch?.close();
    this.#watch = undefined;
  }
}

/** Undefined when one is another machine's. */
function pathsHere(missing: readonly PathUri[], present: PathUri | undefined) {
  try {
    return { missing: missing.map(filePath), present: present && filePath(present) };
  } catch {
    return undefined;
  }
}
