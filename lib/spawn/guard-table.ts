// Whom the guard is to end, as a file that it reads once we are gone. Until then it sleeps: a process costs one small write at
// its start and one at its end, and wakes nobody.
import { randomUUID } from "node:crypto";
import { closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A pid, a start time and a line feed; rows are written over, so all have one length. */
const ROW_BYTES = 32;
/** Memory first: it is never full, and never slow. */
const folders = () => ["/dev/shm", tmpdir()];

/** Rows of pids in a file without a name. */
export class GuardTable {
  /** To be given to the guard. */
  readonly fd = openNameless();
  readonly #rows = new Map<number, number>();
  readonly #free: number[] = [];

  /** How many are recorded. */
  get size(): number {
    return this.#rows.size;
  }

  has(pid: number): boolean {
    return this.#rows.has(pid);
  }

  /** Records `pid`, which is to be ended only if it began at `startTime`, where that is given. Throws when it cannot be written. */
  record(pid: number, startTime?: number): void {
    const row = this.#free.at(-1) ?? this.#rows.size;
    this.#write(row, startTime === undefined ? `${pid}` : `${pid} ${startTime}`);
    this.#free.pop();
    this.#rows.set(pid, row);
  }

  /** Whether it was recorded; it no longer is. */
  erase(pid: number): boolean {
    const row = this.#rows.get(pid);
    if (row === undefined) return false;
    this.#rows.delete(pid);
    this.#free.push(row);
    this.#write(row, "");
    return true;
  }

  /** Erases everything, and lets go of the file. */
  close(): void {
    for (const pid of this.#rows.keys()) this.erase(pid);
    closeSync(this.fd);
  }

  #write(row: number, text: string): void {
    writeSync(this.fd, `${text.padEnd(ROW_BYTES - 1)}\n`, row * ROW_BYTES, "latin1");
  }
}

/** Open for reading and writing, for us and whoever gets the descriptor, and gone with the last of those. */
function openNameless(): number {
  let failure: unknown;
  for (const folder of folders()) {
    const path = join(folder, `execwire-guard-${randomUUID()}`);
    try {
      const fd = openSync(path, "wx+", 0o600);
      unlinkSync(path);
      return fd;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
