// Output as a terminal shows it in the end, for lines that a program draws again and again, such as a progress bar. A model that
// reads every frame of a bar spends its context on frames.

/** What is left of a text. */
export interface Redrawn {
  readonly text: string;
  /** Characters that the program itself has overwritten or erased. */
  readonly overwritten: number;
}

const RETURN = "\r";
const BACKSPACE = "\b";
const CSI = "\x1b\\[";
/** A control sequence (ECMA-48, 5.4): parameters, intermediate bytes and the final byte; or any other character. */
const PARTS = new RegExp(`${CSI}([0-?]{0,64})([ -/]{0,4})([@-~])|[^]`, "gu");
/** The sequences that erase in a line (EL) or move the cursor to a column (CHA). */
const ERASE = "K";
const COLUMN = "G";
/** No terminal is wider. A longer line is text, which stays as it is. */
const MAX_COLUMNS = 1000;

/** Returns the last state of each line. Lines that are drawn once stay as they are, with their colors. */
export function redrawnLines(text: string): Redrawn {
  let overwritten = 0;
  const lines = text.split("\n").map((line) => {
    // A terminal ends its lines with CR LF.
    const drawn = line.replace(/\r+$/, "");
    if (!drawn.includes(RETURN) && !drawn.includes("\x1b[2K") && !drawn.includes(BACKSPACE)) return line;
    const shown = draw(drawn);
    overwritten += Math.max(0, drawn.length - (shown ?? drawn).length);
    return shown ?? line;
  });
  return { text: lines.join("\n"), overwritten };
}

/**
 * Draws one line on an empty screen; undefined if it is too long. Colors are dropped: they belong to frames that are gone.
 */
function draw(line: string): string | undefined {
  const cells: string[] = [];
  let column = 0;
  for (const [part, parameter = "", , final] of line.matchAll(PARTS)) {
    if (final !== undefined) {
      if (final === ERASE) erase(cells, column, parameter);
      // Not beyond what was drawn, or a few bytes would become a long line of blanks.
      else if (final === COLUMN) column = Math.max(0, Math.min(Number(parameter || 1) - 1, cells.length));
    } else if (part === RETURN) column = 0;
    else if (part === BACKSPACE) column = Math.max(0, column - 1);
    else if (column === MAX_COLUMNS) return undefined;
    else {
      while (cells.length < column) cells.push(" ");
      cells[column] = part;
      column += 1;
    }
  }
  return cells.join("").trimEnd();
}

function erase(cells: string[], column: number, parameter: string): void {
  if (parameter === "2") cells.length = 0;
  else if (parameter === "1") cells.fill(" ", 0, column + 1);
  else cells.length = Math.min(cells.length, column);
}
