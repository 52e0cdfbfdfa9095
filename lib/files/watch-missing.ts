// Watches for something to appear where there is nothing, for who remembers that there is nothing.
// The directories on the way to each path are watched, so that the making, moving or removal of one of them is seen as
// well; what an event means is found out by looking, so a false one is harmless. Invariants: (1) what is looked at has been
// watched before, so nothing slips through in between; (2) it tells once, and nothing after `close`.
import { type FSWatcher, watch } from "node:fs";
import { statfs } from "node:fs/promises";
import { type FilePath, keyOf, nameOf } from "./file-path.ts";
import { type Expectation, type Look, lookAt } from "./look-at-path.ts";

/** What is watched. */
export interface WatchedPaths {
  /** There is nothing at any of these. */
  readonly missing: readonly FilePath[];
  /** Something that is there, and stays as it is. */
  readonly present?: FilePath | undefined;
}

/** A watch that has not told yet. */
export interface MissingWatch {
  close(): void;
}

/** How often is looked without an event: the system drops events when there are too many. */
const BELT_MS = 5000;

/**
 * Calls once when something appears at a missing path or on the way to it, when the way to it changes, or when what is
 * present changes. Undefined when it is not as described from the start, when a link is on the way, or when the file system
 * does not tell of changes.
 */
export async function watchMissing(
  { missing, present }: WatchedPaths,
  onChange: () => void,
): Promise<MissingWatch | undefined> {
  const expected: Expectation[] = missing.map((path) => ({ path, isPresent: false }));
  if (present) expected.push({ path: present, isPresent: true });
  const looks = (await Promise.all(expected.map(lookAt))).filter((look) => look !== undefined);
  if (missing.length === 0 || looks.length < expected.length || !(await allTell(looks))) return undefined;
  const isUnchanged = async () => {
    const now = await Promise.all(expected.map(lookAt));
    return now.every((look, index) => look?.stamp === looks[index]?.stamp);
  };
  const watching = new DirectoriesWatch(isUnchanged, onChange);
  try {
    watching.start(looks);
    if (await isUnchanged()) return watching; // (1)
  } catch {
    // Not allowed, or too many watches of the whole system.
  }
  watching.close();
  return undefined;
}

class DirectoriesWatch implements MissingWatch {
  readonly #isUnchanged: () => Promise<boolean>;
  readonly #onChange: () => void;
  readonly #watchers: FSWatcher[] = [];
  #belt: NodeJS.Timeout | undefined;
  #isLooking = false;
  #lookAgain = false;
  #isOver = false;

  constructor(isUnchanged: () => Promise<boolean>, onChange: () => void) {
    this.#isUnchanged = isUnchanged;
    this.#onChange = onChange;
  }

  /** Watches every directory on the way for the names that were looked at. Throws when one cannot be watched. */
  start(looks: readonly Look[]): void {
    const names = new Map<string, Set<string>>();
    for (const { directory, name } of looks.flatMap(({ spots }) => spots)) {
      const key = keyOf(directory);
      // What happens to the directory itself is told under its own name.
      names.set(key, (names.get(key) ?? new Set([keyOf(nameOf(directory))])).add(keyOf(name)));
    }
    for (const [key, wanted] of names) {
      const watcher = watch(Buffer.from(key, "latin1"), { persistent: false, encoding: "buffer" }, (_, name) => {
        if (name === null || wanted.has(keyOf(name))) void this.#look();
      });
      this.#watchers.push(watcher.on("error", () => this.#tell()));
    }
    this.#belt = setInterval(() => void this.#look(), BELT_MS).unref();
  }

  close(): void {
    this.#isOver = true;
    clearInterval(this.#belt);
    for (const watcher of this.#watchers) watcher.close();
  }

  /** One look at a time; what happens meanwhile is looked at after it. */
  async #look(): Promise<void> {
    this.#lookAgain = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    while (this.#lookAgain && !this.#isOver) {
      this.#lookAgain = false;
      if (!(await this.#isUnchanged())) this.#tell();
    }
    this.#isLooking = false;
  }

  #tell(): void {
    if (this.#isOver) return; // (2)
    this.close();
    this.#onChange();
  }
}

/** File systems of Linux that announce every change, by the numbers of statfs(2); a remote or made-up one does not. */
const ANNOUNCING = new Set([
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

/** Whether the file systems that hold the nearest existing directories announce what happens in them. */
async function allTell(looks: readonly Look[]): Promise<boolean> {
  const nearest = new Map(looks.map(({ nearest }) => [keyOf(nearest), nearest]));
  return (await Promise.all([...nearest.values()].map(tellsOfChanges))).every(Boolean);
}

async function tellsOfChanges(directory: FilePath): Promise<boolean> {
  if (process.platform !== "linux") return true;
  return statfs(directory).then(
    ({ type }) => ANNOUNCING.has(type),
    () => false,
  );
}
