// Scans a message before it is parsed, for problems that JSON.parse does not report: too many values, deep nesting, duplicate
// keys, lone surrogates, ids that a number cannot hold. It reads structure only and accepts any text: JSON.parse judges the
// rest afterwards.

/** Limits of the exec-server on one message. */
export interface JsonBounds {
  readonly maxValues: number;
  readonly maxDepth: number;
}

/** Result of the scan. */
export interface JsonFacts {
  /** Source text of the top-level member `id`, to be sent back unchanged. */
  readonly idText: string | undefined;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

interface Level {
  /** Keys of an object; undefined for an array. */
  readonly keys: Set<string> | undefined;
  /** The last key read. */
  key: string | undefined;
}

/** Throws an Error that describes the problem. Text that is not JSON may pass, with meaningless facts. */
export function checkJson(text: string, { maxValues, maxDepth }: JsonBounds): JsonFacts {
  // Only an escape can produce one: the text itself was valid UTF-8.
  const mayHoldSurrogates = text.includes("\\u");
  const levels: Level[] = [];
  let level: Level | undefined;
  let values = 1;
  // True right after the bracket of an array, whose first element follows no comma.
  let isArrayNew = false;
  let idStart = -1;
  let idText: string | undefined;
  const endId = (end: number) => {
    if (idStart >= 0 && levels.length === 1) idText ??= copyOf(text.slice(idStart, end).trim());
    idStart = -1;
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char <= 0x20) continue;
    if (isArrayNew) {
      isArrayNew = false;
      if (char !== CLOSE_ARRAY) values += 1;
    }
    if (char === QUOTE) {
      const end = endOfString(text, at);
      if (mayHoldSurrogates) refuseSurrogates(text, at, end);
      if (level?.keys && level.key === undefined) {
        level.key = keyBetween(text, at, end);
        if (level.keys.has(level.key))
          throw new Error(`duplicate JSON object key \`${level.key}\` at column ${end + 1}`);
        level.keys.add(level.key);
      }
      at = end;
    } else if (char === COLON) {
      values += 1;
      if (levels.length === 1 && level?.key === "id") idStart = at + 1;
    } else if (char === COMMA) {
      endId(at);
      if (level?.keys) level.key = undefined;
      else values += 1;
    } else if (char === OPEN_OBJECT || char === OPEN_ARRAY) {
      isArrayNew = char === OPEN_ARRAY;
      level = { keys: isArrayNew ? undefined : new Set(), key: undefined };
      levels.push(level);
      if (levels.length > maxDepth) throw new Error(`recursion limit exceeded at column ${at + 1}`);
    } else if (char === CLOSE_OBJECT || char === CLOSE_ARRAY) {
      endId(at);
      levels.pop();
      level = levels[levels.length - 1];
    }
    if (values > maxValues) {
      throw new Error(`JSON-RPC message exceeds the limit of ${maxValues} JSON values at column ${at + 1}`);
    }
  }
  return { idText };
}

/** Index of the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/** The key between two quotes, unescaped. */
function keyBetween(text: string, start: number, end: number): string {
  const source = text.slice(start + 1, end);
  return source.includes("\\") ? String(JSON.parse(`"${source}"`)) : source;
}

/** A lone surrogate has no UTF-8, so it could not be sent on. */
function refuseSurrogates(text: string, start: number, end: number): void {
  const source = text.slice(start, end + 1);
  if (!source.includes("\\u")) return;
  if (/\p{Surrogate}/u.test(String(JSON.parse(source)))) throw new Error(`lone surrogate at column ${start + 1}`);
}

/** Copies, since a substring keeps the whole string in memory and an id may far outlive its message. */
function copyOf(text: string): string {
  return Buffer.from(text).toString();
}
