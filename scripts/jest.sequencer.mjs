// Jest sequencer: in a fresh clone, specs that run programs come first, so that no worker ends with a long file. If jest knows
// the durations of an earlier run, its own order is better.
import { join, relative, sep } from "node:path";
import Sequencer from "@jest/test-sequencer";

const spec = join(import.meta.dirname, "../spec");
/** Folders of spec, the slowest files first. */
const LONGEST_FIRST = ["cli", "contract", "resilience", "codex", "cases", "browser", "wire"];

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

/** The position of the file's folder in the list; the files of all other folders are short. */
function rank({ path }) {
  const [folder] = relative(spec, path).split(sep);
  const position = LONGEST_FIRST.indexOf(folder);
  return position < 0 ? LONGEST_FIRST.length : position;
}
