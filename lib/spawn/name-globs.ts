// Globs on names of variables: `*` for any text, `?` for one character, in any letter case. Callers choose both sides, so
// a match never costs more than glob times name: a regular expression with several `*` would take a power of that.
import { ExecwireError } from "../errors.ts";

/** Whether a name matches one of `globs`. Throws LIMIT_EXCEEDED when all names together make more than `maxSteps`. */
export function nameMatcher(globs: readonly string[], maxSteps: number): (name: string) => boolean {
  const folded = globs.map(fold);
  const chars = globs.reduce((sum, glob) => sum + glob.length + 1, 0);
  let steps = 0;
  return (name) => {
    steps += chars * (name.length + 1);
    if (steps > maxSteps) {
      const message = `envPolicy has too many or too long globs for its names: more than ${maxSteps} steps to compare them`;
      throw new ExecwireError("LIMIT_EXCEEDED", message, { data: { limit: "envGlobSteps" } });
    }
    const text = fold(name);
    return folded.some((glob) => matches(glob, text));
  };
}

/** A later `*` makes an earlier one final: only the last is ever tried again. */
function matches(glob: string, name: string): boolean {
  let at = 0;
  let star = -1;
  let from = 0;
  let position = 0;
  while (position < name.length) {
    if (glob[at] === "*") {
      star = at;
      at += 1;
      from = position;
    } else if (at < glob.length && (glob[at] === "?" || glob[at] === name[position])) {
      at += 1;
      position += 1;
    } else if (star >= 0) {
      from += 1;
      position = from;
      at = star + 1;
    } else return false;
  }
  while (glob[at] === "*") at += 1;
  return at === glob.length;
}

/** Letters of one case, each of which stays one character. */
function fold(text: string): string {
  let folded = "";
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] as string;
    const upper = char.toUpperCase();
    // As regular expressions do: what grows stays itself, and no other letter becomes an ASCII one.
    folded += upper.length > 1 || (char > "\x7f" && upper <= "\x7f") ? char : upper;
  }
  return folded;
}
