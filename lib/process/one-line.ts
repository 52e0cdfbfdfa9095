// Text of several lines as one line. Messages of a peer pass through here, so it takes time in proportion to the text: a
// pattern that looks for the blanks before a line end would take the square of it.

/** The lines without the blanks around them, empty ones left out. */
export function inOneLine(text: string, separator: string): string {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(separator);
}
