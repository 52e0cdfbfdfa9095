// Whom the guard is to end, as a file that it reads once we are gone. Until then it sleeps: a process costs one small write at
// its start and one at its end, and wakes nobody.
import { randomUUID } from "node:crypto";
import { closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A pid, a start time, a mark and a line feed; rows are written over, so all have one length. */
const ROW_BYTES = 40;
/** Rows are made this many at a time, in places that are taken then: a disk that is full is found full at the beginning. */
const ROWS_AT_ONCE = 1024;
/** What stands for the start time of a process that keeps its pid. */
const RESERVED = "-";
/** What stands before the time at which a process had ended. */
const BEFORE = "<";
/** What stands in a row that was never used: nobody follows. */
const END = "end";

/** Rows of pids in a file without a name, in memory where there is room. */
export class GuardTable {
  /** To be given to the guard. */
  readonly fd: number;
  readonly #rows = new Map<number, number>();
  readonly #free: number[] = [];
  #capacity = ROWS_AT_ONCE;

  /** Throws when no folder has room for it. */
  constructor(folders: readonly string[] = ["/dev/shm", tmpdir()]) {
    this.fd = openNameless(folders);
  }

  /**
   * Records `pid`, which is to be ended only if it began at a given start time, where there is one, and what has its mark,
   * where it has one. Of a process that has ended: what is in its session and started up to then, or has its mark. Throws when
   * it cannot be written.
   */
  record(pid: number, time?: number | { readonly endedAt: number }, mark?: number): void {
    const row = this.#rows.get(pid) ?? this.#free.at(-1) ?? this.#rows.size;
    if (row === this.#capacity) {
      makeRows(this.fd, row);
      this.#capacity += ROWS_AT_ONCE;
    }
    const start = typeof time === "object" ? `${BEFORE}${time.endedAt}` : (time ?? RESERVED);
    this.#write(row, `${pid} ${start} ${mark ?? ""}`);
    if (row === this.#free.at(-1)) this.#free.pop();
    this.#rows.set(pid, row);
  }

  /** Erases the row of `pid`, if it has one. Throws when it cannot be written. */
  erase(pid: number): void {
    const row = this.#rows.get(pid);
    if (row === undefined) return;
    this.#write(row, "");
    this.#rows.delete(pid);
    this.#free.push(row);
  }

  /** Lets go of the file; the guard has it still. */
  close(): void {
    closeSync(this.fd);
  }

  #write(row: number, text: string): void {
    writeSync(this.fd, rowOf(text), row * ROW_BYTES, "latin1");
  }
}

function rowOf(text: string): string {
  return `${text.padEnd(ROW_BYTES - 1)}\n`;
}

function makeRows(fd: number, first: number): void {
  const rows = rowOf(END).repeat(ROWS_AT_ONCE);
  // A full disk takes what there is room for.
  if (writeSync(fd, rows, first * ROW_BYTES, "latin1") < rows.length)
    throw new Error("ENOSPC: no space left on device");
}

/** Open for reading and writing, for us and whoever gets the descriptor, and gone with the last of those. */
function openNameless(folders: readonly string[]): number {
  let failure: unknown;
  for (const folder of folders) {
    const path = join(folder, `execwire-guard-${randomUUID()}`);
    let fd: number | undefined;
    try {
      fd = openSync(path, "wx+", 0o600);
      unlinkSync(path);
      makeRows(fd, 0);
      return fd;
    } catch (error) {
      if (fd !== undefined) closeSync(fd);
      failure = error;
    }
  }
  throw failure;
}
