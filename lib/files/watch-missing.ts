// Watches missing paths until something appears there, for callers that cache the absence. Every directory on the way to a path
// is watched, so that its creation, move or removal is noticed too. An event only triggers a check, so a false one is
// harmless. Invariants: (1) a check happens after its directories are watched, so no change is missed in between; (2) `onChange`
// is called once at most, and never after `close`.
import { type FSWatcher, watch } from "node:fs";
import { statfs } from "node:fs/promises";
import { type FilePath, keyOf, nameOf } from "./file-path.ts";
import { type ExpectedPath, type PathSnapshot, snapshotPath } from "./snapshot-path.ts";

/** The paths to watch. */
export interface WatchedPaths {
  /** Paths that do not exist. */
  readonly missing: readonly FilePath[];
  /** A path that exists, and must not change. */
  readonly present?: FilePath | undefined;
}

/** An active watch. */
export interface MissingWatch {
  close(): void;
}

/** Interval of checks without an event: the system drops events when there are too many. */
const RESCAN_MS = 5000;

/**
 * Calls `onChange` once when a missing path or one of its missing ancestors appears, when an existing ancestor changes, or when
 * `present` changes. Undefined if the paths are not as described, if a link is in one, or if the file system does not report
 * changes.
 */
export async function watchMissing(
  { missing, present }: WatchedPaths,
  onChange: () => void,
): Promise<MissingWatch | undefined> {
  const expected: ExpectedPath[] = missing.map((path) => ({ path, isPresent: false }));
  if (present) expected.push({ path: present, isPresent: true });
  const snapshots = (await Promise.all(expected.map(snapshotPath))).filter((snapshot) => snapshot !== undefined);
  if (missing.length === 0 || snapshots.length < expected.length || !(await allReportChanges(snapshots)))
    return undefined;
  const isUnchanged = async () => {
    const now = await Promise.all(expected.map(snapshotPath));
    return now.every((snapshot, index) => snapshot?.stamp === snapshots[index]?.stamp);
  };
  const watching = new DirectoriesWatch(isUnchanged, onChange);
  try {
    watching.start(snapshots);
    if (await isUnchanged()) return watching; // (1)
  } catch {
    // Not permitted, or the system's limit of watches is reached.
  }
  watching.close();
  return undefined;
}

class DirectoriesWatch implements MissingWatch {
  readonly #isUnchanged: () => Promise<boolean>;
  readonly #onChange: () => void;
  readonly #watchers: FSWatcher[] = [];
  #rescanTimer: NodeJS.Timeout | undefined;
  #isChecking = false;
  #checkAgain = false;
  #isClosed = false;

  constructor(isUnchanged: () => Promise<boolean>, onChange: () => void) {
    this.#isUnchanged = isUnchanged;
    this.#onChange = onChange;
  }

  /** Watches every directory for the names in the snapshots. Throws if one cannot be watched. */
  start(snapshots: readonly PathSnapshot[]): void {
    const namesByDirectory = new Map<string, Set<string>>();
    for (const { directory, name } of snapshots.flatMap(({ entries }) => entries)) {
      const key = keyOf(directory);
      // Events of the directory itself carry its own name.
      namesByDirectory.set(key, (namesByDirectory.get(key) ?? new Set([keyOf(nameOf(directory))])).add(keyOf(name)));
    }
    for (const [key, wanted] of namesByDirectory) {
      const watcher = watch(Buffer.from(key, "latin1"), { persistent: false, encoding: "buffer" }, (_, name) => {
        if (name === null || wanted.has(keyOf(name))) void this.#check();
      });
      this.#watchers.push(watcher.on("error", () => this.#notify()));
    }
    this.#rescanTimer = setInterval(() => void this.#check(), RESCAN_MS).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#rescanTimer);
    for (const watcher of this.#watchers) watcher.close();
  }

  /** One check at a time; an event during a check causes another one. */
  async #check(): Promise<void> {
    this.#checkAgain = true;
    if (this.#isChecking) return;
    this.#isChecking = true;
    while (this.#checkAgain && !this.#isClosed) {
      this.#checkAgain = false;
      if (!(await this.#isUnchanged())) this.#notify();
    }
    this.#isChecking = false;
  }

  #notify(): void {
    if (this.#isClosed) return; // (2)
    this.close();
    this.#onChange();
  }
}

/** Linux file systems that report every change, by their statfs(2) type. Remote and virtual ones do not. */
const REPORTING_FILE_SYSTEMS = new Set([
  0xef53, // ext2, ext3, ext4
  0x01021994, // tmpfs, devtmpfs
  0x58465342, // xfs
  0x9123683e, // btrfs
  0x794c7630, // overlayfs
  0xf2f52010, // f2fs
  0x2fc12fc1, // zfs
  0xca451a4e, // bcachefs
  0x858458f6, // ramfs
]);

/** Whether the file systems of the nearest existing directories report all changes. */
async function allReportChanges(snapshots: readonly PathSnapshot[]): Promise<boolean> {
  const nearest = new Map(snapshots.map(({ nearest }) => [keyOf(nearest), nearest]));
  return (await Promise.all([...nearest.values()].map(reportsChanges))).every(Boolean);
}

async function reportsChanges(directory: FilePath): Promise<boolean> {
  if (process.platform !== "linux") return true;
  return statfs(directory).then(
    ({ type }) => REPORTING_FILE_SYSTEMS.has(type),
    () => false,
  );
}
