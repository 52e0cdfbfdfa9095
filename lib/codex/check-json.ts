// Looks over the text of a message before it is parsed, for what JSON.parse lets pass: values without end, deep nesting,
// one key twice, lone surrogates, ids that a number cannot hold. It reads structure only and takes any text: JSON.parse
// judges everything else afterwards.

/** Bounds of the exec-server on what it takes. */
export interface JsonBounds {
  readonly maxValues: number;
  readonly maxDepth: number;
}

/** What was found out about a message. */
export interface JsonFacts {
  /** The source of the top-level member `id`, to be sent back as it came. */
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
  /** Keys of an object; undefined in an array. */
  readonly keys: Set<string> | undefined;
  /** The last key read. */
  key: string | undefined;
}

/** Throws an Error that says what is wrong. Text that is no JSON may pass, with facts that mean nothing. */
export function checkJson(text: string, { maxValues, maxDepth }: JsonBounds): JsonFacts {
  // Only an escape can bring one in: the text itself was UTF-8.
  const mayHoldSurrogates = text.includes("\\u");
  const levels: Level[] = [];
  let level: Level | undefined;
  let values = 1;
  // Behind the bracket of an array, whose first element has no comma before it.
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

/** The index of the closing quote of a string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/** The key between two quotes. */
function keyBetween(text: string, start: number, end: number): string {
  const source = text.slice(start + 1, end);
  return source.includes("\\") ? String(JSON.parse(`"${source}"`)) : source;
}

/** What is no text could be passed on to nobody: it has no UTF-8. */
function refuseSurrogates(text: string, start: number, end: number): void {
  const source = text.slice(start, end + 1);
  if (!source.includes("\\u")) return;
  if (/\p{Surrogate}/u.test(String(JSON.parse(source)))) throw new Error(`lone surrogate at column ${start + 1}`);
}

/** A part of a string keeps the whole of it in memory; an id may outlive its message for long. */
function copyOf(text: string): string {
  return Buffer.from(text).toString();
}
