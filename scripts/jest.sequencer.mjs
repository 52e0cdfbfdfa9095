// Jest sequencer: in a fresh clone, the specs that run programs come first, so that no worker is left with a long file at the
// end. Where jest knows the durations of an earlier run, its own order is better.
import { join, relative, sep } from "node:path";
import Sequencer from "@jest/test-sequencer";

const spec = join(import.meta.dirname, "../spec");
/** Folders of spec, those of the longest files first. */
const LONGEST_FIRST = ["cli", "contract", "resilience", "codex", "cases", "browser", "wire"];

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

/** Place of the folder of a file; those that are not named are short. */
function rank({ path }) {
  const [folder] = relative(spec, path).split(sep);
  const place = LONGEST_FIRST.indexOf(folder);
  return place < 0 ? LONGEST_FIRST.length : place;
}
