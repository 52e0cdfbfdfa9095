// Case-insensitive globs for variable names: `*` matches any text, `?` one character. Callers choose globs and names, so a match
// never costs more than their lengths multiplied; a regular expression with several `*` could take far longer.
import { ExecwireError } from "../errors.ts";

/** Matches names against `globs`. The matcher throws LIMIT_EXCEEDED when all its calls together exceed `maxSteps`. */
export function nameMatcher(globs: readonly string[], maxSteps: number): (name: string) => boolean {
  const folded = globs.map(fold);
  const chars = globs.reduce((sum, glob) => sum + glob.length + 1, 0);
  let steps = 0;
  return (name) => {
    steps += chars * (name.length + 1);
    if (steps > maxSteps) {
      const message = `matching the globs of envPolicy takes more than ${maxSteps} steps; use fewer or shorter globs`;
      throw new ExecwireError("LIMIT_EXCEEDED", message, { data: { limit: "envGlobSteps" } });
    }
    const text = fold(name);
    return folded.some((glob) => matches(glob, text));
  };
}

/** Backtracks only to the last `*`: the match of an earlier one is final once a later one is reached. */
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

/** Folds case; the length stays the same. */
function fold(text: string): string {
  let folded = "";
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] as string;
    const upper = char.toUpperCase();
    // As in regular expressions: a character that would grow, or become ASCII without being ASCII, is not folded.
    folded += upper.length > 1 || (char > "\x7f" && upper <= "\x7f") ? char : upper;
  }
  return folded;
}
