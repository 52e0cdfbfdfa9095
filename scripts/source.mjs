// Reads sources for the check scripts: walks folders, and masks comments and strings. TypeScript 7 has no JavaScript parser API,
// and masking needs no parser; it keeps every offset and line number.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const SKIPPED_FOLDERS = new Set(["node_modules", "dist", "coverage", ".git"]);

/** Paths, relative to `root` and with forward slashes, of the files below `folder` with this ending. */
export function findFiles(root, folder, ending) {
  if (!existsSync(join(root, folder))) return [];
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED_FOLDERS.has(entry.name) ? [] : findFiles(root, path, ending);
    return entry.isFile() && entry.name.endsWith(ending) ? [path] : [];
  });
}

/** 1-based line number of an offset. */
export function lineAt(text, offset) {
  return text.slice(0, offset).split("\n").length;
}

/** `code`: the text with comments blanked; `bare`: with the contents of strings, templates and regexes blanked too. */
export function mask(text) {
  let code = "";
  let bare = "";
  for (const { kind, start, end } of tokens(text, 0)) {
    const token = text.slice(start, end);
    code += kind === "comment" ? blank(token) : token;
    bare += kind === "comment" ? blank(token) : kind === "text" ? hollow(token) : token;
  }
  return { code, bare };
}

const blank = (token) => token.replace(/[^\n]/g, " ");
const hollow = (token) => (token.length < 2 ? token : token[0] + blank(token.slice(1, -1)) + token.at(-1));

const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y;
const STRING = /"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?/y;
const REGEX = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y;
const WORD = /[\w$]+/y;
/** A slash after one of these begins a regex; after anything else it is a division. */
const BEFORE_REGEX = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|await|yield|void))\s*$/;

/** The tokens of the text from `start`: comments, texts (string, template, regex), words and single characters. */
function* tokens(text, start) {
  let before = "";
  for (let at = start; at < text.length; ) {
    const token = tokenAt(text, at, before);
    yield token;
    if (token.kind !== "comment") before = (before + text.slice(at, token.end)).slice(-40);
    at = token.end;
  }
}

function tokenAt(text, start, before) {
  const end = (pattern) => {
    pattern.lastIndex = start;
    return pattern.test(text) ? pattern.lastIndex : undefined;
  };
  const first = text[start];
  if (first === "`") return { kind: "text", start, end: endOfTemplate(text, start + 1) };
  if (first === '"' || first === "'") return { kind: "text", start, end: end(STRING) };
  if (first === "/") {
    const comment = end(COMMENT);
    if (comment !== undefined) return { kind: "comment", start, end: comment };
    const regex = BEFORE_REGEX.test(before) ? end(REGEX) : undefined;
    if (regex !== undefined) return { kind: "text", start, end: regex };
  }
  return { kind: "code", start, end: end(WORD) ?? start + 1 };
}

function endOfTemplate(text, start) {
  for (let at = start; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "`") return at + 1;
    else if (text.startsWith("${", at)) at = endOfSubstitution(text, at + 2) - 1;
  }
  return text.length;
}

function endOfSubstitution(text, start) {
  let depth = 1;
  for (const token of tokens(text, start)) {
    if (text[token.start] === "{") depth++;
    if (text[token.start] === "}") depth--;
    if (depth === 0) return token.end;
  }
  return text.length;
}
