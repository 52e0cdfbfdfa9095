// The processes that the guard must kill, in a file that it reads once we are gone. Until then the guard sleeps: a process costs
// one small write at its start and one at its end, and no wake-up.
import { randomUUID } from "node:crypto";
import { closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A pid, a start time, a mark and a line feed. Rows are overwritten in place, so all have the same length. */
const ROW_BYTES = 40;
/** Rows are allocated in blocks of this many, so that a full disk is noticed early. */
const ROWS_AT_ONCE = 1024;
/** In place of the start time of a process whose pid stays reserved. */
const RESERVED = "-";
/** Prefix of the time at which a process had exited. */
const BEFORE = "<";
/** Content of rows that were never used: the end of the table. */
const END = "end";

/** Rows of pids in an unlinked file, in shared memory if there is room. */
export class GuardTable {
  /** Passed to the guard. */
  readonly fd: number;
  readonly #rows = new Map<number, number>();
  readonly #free: number[] = [];
  #capacity = ROWS_AT_ONCE;

  /** Throws when no folder has room for it. */
  constructor(folders: readonly string[] = ["/dev/shm", tmpdir()]) {
    this.fd = openNameless(folders);
  }

  /**
   * Records `pid`: the guard kills it only if its start time is `time` (unless undefined), and also every process that has
   * `mark`. With `endedAt` the process has exited: only the processes of its session that started up to then or have the mark
   * are killed. Throws if the row cannot be written.
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

  /** Erases the row of `pid`, if there is one. Throws if it cannot be written. */
  erase(pid: number): void {
    const row = this.#rows.get(pid);
    if (row === undefined) return;
    this.#write(row, "");
    this.#rows.delete(pid);
    this.#free.push(row);
  }

  /** Closes our descriptor; the guard keeps its own. */
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
  // A full disk accepts a part.
  if (writeSync(fd, rows, first * ROW_BYTES, "latin1") < rows.length)
    throw new Error("ENOSPC: no space left on device");
}

/** Opens an unlinked file for reading and writing; it is deleted when its last descriptor is closed. */
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
