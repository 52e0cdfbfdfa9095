// Terminal columns of a text: two for East Asian characters and emoji, none for combining marks.

/** Wide scripts, their punctuation, full-width forms, and emoji with a pictorial presentation. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Tangut}\p{Script=Nushu}\p{Emoji_Presentation}\u2e80-\u303e\u3099-\u30ff\u3190-\u31ef\u3200-\u33ff\ua960-\ua97f\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]/u;
/** Half-width forms of wide scripts. */
const NARROW = /[\uff61-\uffdc]/u;
/** Drawn over the preceding character. */
const COMBINING = /[\p{Mn}\p{Me}]/u;
/** One column per character; true for most texts. */
const PLAIN = /^[\x20-\x7e]*$/;

/** The number of columns; the text must have no control characters. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

/** The text, cut to `columns` if it is wider; then it ends with an ellipsis. */
export function fitWidth(text: string, columns: number): string {
  // No character takes more than two columns, so a long text need not be measured to its end.
  if (text.length <= columns / 2 || (text.length <= columns * 8 && displayWidth(text) <= columns)) return text;
  let used = 0;
  let end = 0;
  for (const character of text) {
    const width = widthOf(character);
    if (used + width > columns) return `${text.slice(0, endWithin(text, columns - 1))}…`;
    used += width;
    end += character.length;
  }
  return text.slice(0, end);
}

/** End index of the last character that fits into `columns`. */
function endWithin(text: string, columns: number): number {
  let used = 0;
  let end = 0;
  for (const character of text) {
    used += widthOf(character);
    if (used > columns) break;
    end += character.length;
  }
  return end;
}

function widthOf(character: string): number {
  if (character >= " " && character <= "~") return 1;
  if (COMBINING.test(character)) return 0;
  return WIDE.test(character) && !NARROW.test(character) ? 2 : 1;
}
