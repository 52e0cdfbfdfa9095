// Checks the documentation: a doc comment on every export, a comment at the head of every file and on every limit, and relative
// links whose targets exist. Usage: node scripts/check-docs.mjs [ROOT].
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findFiles, lineAt, mask } from "./source.mjs";

const EXPORT =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\s*\*?|class|interface|type|const|let|enum)\s+([\w$]+)/gm;
const DECLARATION = (name) =>
  new RegExp(`^(?:abstract )?(?:async )?(?:function\\s*\\*?|class|interface|type|const|let)\\s+${name}(?![\\w$])`, "m");

const root = process.argv[2] ?? join(import.meta.dirname, "..");
const counts = { exports: 0, limits: 0, links: 0 };
const sources = ["protocol", "lib"].flatMap((folder) => findFiles(root, folder, ".ts"));
const violations = [
  ...sources.flatMap((path) => [...checkSource(path)]),
  ...checkLimits("protocol/limits.ts"),
  ...findFiles(root, "", ".md").flatMap((path) => [...checkLinks(path)]),
];

for (const { path, line, what } of violations) console.log(`${path}:${line} ${what}`);
if (violations.length > 0) process.exitCode = 1;
else console.log(`docs ok: ${counts.exports} exports, ${counts.limits} limits, ${counts.links} links`);

function* checkSource(path) {
  const text = readFileSync(join(root, path), "utf8");
  if (!/^(#!.*\n)?\s*\/[/*](?!\s*(biome-ignore|@ts-))/.test(text)) {
    yield { path, line: 1, what: "does not begin with a comment on its purpose" };
  }
  const { bare } = mask(text);
  const seen = new Set();
  for (const { name, index } of findExports(bare)) {
    // Only the first overload, or the first of a type and a value with the same name, needs a comment.
    if (seen.has(name)) continue;
    seen.add(name);
    counts.exports++;
    if (!hasDocComment(text, index)) {
      yield { path, line: lineAt(text, index), what: `exports ${name} without a doc comment directly before it` };
    }
  }
}

/** Exported declarations, and local ones in an `export { ... }` list. Re-exports are documented where they are declared. */
function* findExports(bare) {
  for (const match of bare.matchAll(EXPORT)) yield { name: match[1], index: match.index };
  for (const list of bare.matchAll(/^export\s+(?:type\s+)?\{([^}]*)\}(?!\s*from\b)/gm)) {
    for (const entry of list[1].split(",")) {
      const name = entry.trim().match(/^(?:type\s+)?([\w$]+)/)?.[1];
      const index = name === undefined ? -1 : bare.search(DECLARATION(name));
      if (index >= 0) yield { name, index };
    }
  }
}

/** Whether a non-empty `/** ... *\/` stands directly above; line comments may stand between. */
function hasDocComment(text, index) {
  const above = text.slice(0, index).replace(/(\n[ \t]*\/\/[^\n]*)+\n$/, "\n");
  if (!/\*\/[ \t]*\n$/.test(above)) return false;
  return /^\/\*\*[\s\S]*\w[\s\S]*\*\/\s*$/.test(above.slice(above.lastIndexOf("/*")));
}

/** Every property of the exported `limits` object needs a comment directly above it or at the end of its line. */
function* checkLimits(path) {
  if (!existsSync(join(root, path))) return;
  const text = readFileSync(join(root, path), "utf8");
  const { bare } = mask(text);
  const start = bare.match(/^export const limits\b[^=]*=[^{]*\{/m);
  if (!start) {
    yield { path, line: 1, what: "exports no `limits` object" };
    return;
  }
  let depth = 1;
  const first = lineAt(bare, start.index + start[0].length) - 1;
  const lines = text.split("\n");
  const bareLines = bare.split("\n");
  bareLines[first] = bareLines[first].slice(bareLines[first].lastIndexOf("{") + 1);
  for (let at = first; at < lines.length && depth > 0; at++) {
    const name = depth === 1 ? bareLines[at].match(/^\s*([\w$]+)\s*[:,]/)?.[1] : undefined;
    if (name !== undefined) {
      counts.limits++;
      const isAbove = bareLines[at - 1]?.trim() === "" && /\/\/|\*\//.test(lines[at - 1]);
      const isBeside = /\/[/*].*\w/.test(lines[at].slice(bareLines[at].trimEnd().length));
      const commented = isAbove || isBeside;
      if (!commented) yield { path, line: at + 1, what: `limit ${name} has no comment` };
    }
    for (const character of bareLines[at]) depth += "{[(".includes(character) ? 1 : "}])".includes(character) ? -1 : 0;
  }
}

/** Relative links, inline or by reference, must point to existing files. Links in code are ignored. */
function* checkLinks(path) {
  const blank = (text) => text.replace(/[^\n]/g, " ");
  const text = readFileSync(join(root, path), "utf8")
    .replace(/^[ ]*(```|~~~)[\s\S]*?^[ ]*\1/gm, blank)
    .replace(/`[^`\n]*`/g, blank);
  for (const match of text.matchAll(/\]\(\s*<?([^)\s>]+)|^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)/gm)) {
    const link = match[1] ?? match[2];
    if (/^([a-z][a-z0-9+.-]*:|\/\/|#)/i.test(link)) continue;
    counts.links++;
    const file = decodeURIComponent(link.replace(/[?#].*$/, ""));
    const target = file.startsWith("/") ? join(root, file) : join(root, dirname(path), file);
    if (!existsSync(target))
      yield { path, line: lineAt(text, match.index), what: `links to ${link}, which does not exist` };
  }
}
