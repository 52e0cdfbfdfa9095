// Rejects constructions that make a native reader stop, and prints what to write instead. Checks comments, strings and documents,
// not names in code. Usage: node scripts/plain-words.mjs [PATH ...] (files or folders; default: everything).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findFiles, mask } from "./source.mjs";

/** Patterns and what to write instead. If a pattern gives a false alarm, narrow it; do not exclude the file. */
const FORBIDDEN = [
  [/\b(no|some|any)body\b/i, "name the reader, process, client or user: `no reader`, `another client`"],
  [/\b(who|what|which)ever\b/i, "name the subject: `any reader`, `every process that`"],
  [/(?<=^|[.:;(] )Who\b(?! am i)[^?]*$/, "name the subject: `A client that`"],
  [/\b(for|of|by|to|than|from|with|and|or|as|that|so|but) who\b(?! (is|are) )/i, "name the subject: `the client that`"],
  [/\b(tell|tells|telling|told)\b/i, "report, send, announce, notify; distinguish"],
  [/\btak(e|es|en|ing) \w+( \w+)? for (gone|dead|an?|the|one|what|it|its)\b|\btaken for\b/i, "consider, treat as"],
  [/\blet(s|ting)? go of\b/i, "release, drop, evict"],
  [/\banew\b/i, "again, restart"],
  [/\bof the moment\b/i, "current"],
  [
    /\bstrangers?\b|\b(new)?born\b|\bbirths?\b|\bsigns? of life\b|\bgoodbye\b/i,
    "no people words for processes and bytes",
  ],
  [/\bit is (looked|asked|waited|told|seen to)\b/i, "name the subject, use an active verb"],
  [/\bnot to be had\b/i, "not supported, not available"],
  [
    /\bthe reference (does|is|has|kills|calls|keeps|ends|gives|sends|answers)\b|\bby the reference\b/i,
    "the exec-server",
  ],
  [/\bseeds?\b(?! of)/i, "name the source: the exec-server"],
  [/\bnow and then\b|\bsays? goodbye\b|\bby itself of\b/i, "periodically; closes"],
  [/\bthe life (of|")|\bcame to be\b|\bcomes? to be\b/i, "incarnation; started"],
];

const root = join(import.meta.dirname, "..");
const SOURCES = ["protocol", "lib", "scripts"];
const DOCUMENTS = ["README.md", "lib", "protocol", "scripts", "spec/README.md", "spec/cases/README.md"];
/** Excluded, since its list quotes the forbidden words. */
const SELF = "scripts/plain-words.mjs";

const wanted = process.argv.slice(2).map((path) => path.replace(/\/$/, ""));
const isWanted = (path) => wanted.length === 0 || wanted.some((each) => path === each || path.startsWith(`${each}/`));

const files = [
  ...SOURCES.flatMap((folder) => [...findFiles(root, folder, ".ts"), ...findFiles(root, folder, ".mjs")]),
  ...DOCUMENTS.flatMap((path) => (path.endsWith(".md") ? [path] : findFiles(root, path, ".md"))),
].filter((path) => path !== SELF && isWanted(path));

let count = 0;
for (const path of files) {
  const text = readFileSync(join(root, path), "utf8");
  const prose = path.endsWith(".md") ? proseOfDocument(text) : proseOfSource(text);
  prose.split("\n").forEach((line, index) => {
    for (const [pattern, instead] of FORBIDDEN) {
      const match = line.match(pattern);
      if (!match) continue;
      count += 1;
      console.log(`${path}:${index + 1} "${match[0].slice(0, 40).trim()}" (${instead})`);
    }
  });
}
if (count > 0) process.exitCode = 1;
else console.log(`words ok: ${files.length} files`);

/** Comments and the contents of strings, without comment markers; everything else is blank. */
function proseOfSource(text) {
  return blankOut(text, mask(text).bare).replace(/^\s*(\/\/+|\/\*\*?|\*\/?)\s?/gm, "");
}

function blankOut(text, bare) {
  let prose = "";
  for (let at = 0; at < text.length; at += 1) prose += bare[at] === " " || text[at] === "\n" ? text[at] : " ";
  return prose;
}

/** The document without code blocks, inline code and link targets. */
function proseOfDocument(text) {
  const blank = (part) => part.replace(/[^\n]/g, " ");
  return text
    .replace(/^[ ]*(```|~~~)[\s\S]*?^[ ]*\1/gm, blank)
    .replace(/`[^`\n]*`/g, blank)
    .replace(/\]\([^)]*\)/g, blank);
}
