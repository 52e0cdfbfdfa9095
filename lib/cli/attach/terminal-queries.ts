// Which control sequences a terminal answers on its input. In a replay the question is old: the answer would be typed into a
// program that does not expect it.
import { bodyOf } from "./control-sequences.ts";

/** `CSI prefix parameters intermediates final`, without its introducer; ctlseqs of xterm, and the keyboard protocol of kitty. */
const CSI_QUERIES = [
  /^[>=]?[\d;]*c$/, // device attributes; `CSI ? c` is a cursor of the Linux console
  /^\??[\d;]*n$/, // status and cursor position
  /^\??[\d;]*\$p$/, // the state of a mode
  /^>[\d;]*q$/, // name and version
  /^\?[\d;]*[umgS]$/, // keyboard flags, key modifiers and formats, graphics
  /^[\d;]*[$&]u$/, // terminal state, supplemental set
  /^(?:1[1345689]|2[01])(?:;[\d;]*)?t$/, // the window: state, place, sizes, titles
  /^[\d;]*x$/, // parameters
  /^[\d;]*(?:\*y|\$w|"v|'\||#R|#\|)$/, // checksum, presentation, extent, locator, colours, attributes
];

/** Whether a terminal answers the sequence. */
export function isQuery(sequence: string): boolean {
  if (sequence === "\x05" || sequence === "\x1bZ") return true;
  const body = bodyOf(sequence);
  switch (sequence.slice(0, 2)) {
    case "\x1b[":
      return CSI_QUERIES.some((query) => query.test(body));
    case "\x1b]":
      return body.split(";").some((part, index) => index > 0 && /^(?:\?|.*=\?|Re(?:port|quest).*)$/.test(part));
    case "\x1bP":
      return /^(?:\$q|\+[qQ])/.test(body) || isPassedOnQuery(body);
    case "\x1b_":
      // Graphics of kitty: a question by nature, or a command whose result is not unwanted (q=2).
      return /^G(?:.*,)?a=q[,;]/.test(`${body};`);
    default:
      return false;
  }
}

/** tmux passes on what is wrapped for the terminal outside of it. */
function isPassedOnQuery(body: string): boolean {
  return body.startsWith("tmux;") && isQuery(body.slice("tmux;".length).replaceAll("\x1b\x1b", "\x1b"));
}
