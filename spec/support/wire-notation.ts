// Frames in a notation for people.

/** Hex with spaces for readability; `"text"` is a short string with its head, `=` is a pair. */
export function bytes(notation: string): string {
  return notation
    .replace(/"([^"]*)"/g, (_match, text: string) => {
      const utf8 = Buffer.from(text);
      const head = utf8.length < 32 ? [0xa0 + utf8.length] : [0xd9, utf8.length];
      return Buffer.from([...head, ...utf8]).toString("hex");
    })
    .replace(/[\s=,]/g, "");
}
