// Checks the built package: every type in the signature of a public export is exported by the same entry, so that users can name
// what they get and pass. Usage: node scripts/check-exports.mjs [FOLDER OF THE PACKAGE], after a build. Prints one line for each
// missing type and exits with 1.
import { readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { mask } from "./source.mjs";

const root = process.argv[2] ?? join(import.meta.dirname, "..");
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/**
 * Types that users pass on and do not look into: a dialect is made by `codexDialect`, a spawner by specs; a guarded observable is
 * an Observable to its users. The messages of links are in the entry `execwire/protocol`.
 */
const OPAQUE = new Set(
  "GuardedObservable ReportError Spawner HttpRequest HttpAnswer ServerContext ServedConnection ClientMessage RemoteEnvironment".split(
    " ",
  ),
);

const files = new Map();

const missing = Object.values(exports).flatMap((entry) =>
  entry.types ? checkEntry(posix.normalize(entry.types)) : [],
);
for (const line of missing) console.log(line);
if (missing.length > 0) process.exitCode = 1;
else console.log(`exports ok: ${files.size} files`);

function checkEntry(entry) {
  const exported = exportsOf(entry);
  const lines = [];
  for (const [name, { path, local }] of exported) {
    const { declarations, imports } = fileOf(path);
    for (const word of declarations.get(local)?.words ?? []) {
      const isOurs = imports.has(word) || declarations.has(word);
      if (word !== local && isOurs && !OPAQUE.has(word) && !isExported(exported, word))
        lines.push(`${entry}: ${name} uses ${word}, which is not exported`);
    }
  }
  return [...new Set(lines)];
}

function isExported(exported, word) {
  return [...exported.values()].some(({ local }) => local === word);
}

/** Exported names of a file, each with the file and name of its declaration. */
function exportsOf(path) {
  const { declarations, reExports } = fileOf(path);
  const found = new Map();
  for (const [name, { isExported: is }] of declarations) if (is) found.set(name, { path, local: name });
  for (const { names, from } of reExports) {
    const target = exportsOf(posix.join(dirname(path), from.replace(/\.(ts|js)$/, ".d.ts")));
    for (const name of names) if (target.has(name)) found.set(name, target.get(name));
  }
  return found;
}

/** A declaration file: its declarations with the words that they use, its imports and re-exports. */
function fileOf(path) {
  let file = files.get(path);
  if (file) return file;
  const text = readFileSync(join(root, path), "utf8");
  const { code } = mask(text);
  const declarations = new Map();
  // The compiler begins each declaration at the beginning of a line, and indents everything in it.
  for (const part of code.split(/\n(?=export |declare |interface |type |import )/)) {
    const [, isExported, name] =
      /^(export )?(?:declare )?(?:abstract )?(?:class|interface|type|function|const) (\w+)/.exec(part) ?? [];
    if (name === undefined) continue;
    // Users do not construct what the library creates for them.
    const words = new Set(part.replace(/constructor\([\s\S]*?\);/, "").match(/\b[A-Z]\w+/g) ?? []);
    const earlier = declarations.get(name)?.words ?? [];
    declarations.set(name, { isExported: isExported !== undefined, words: new Set([...earlier, ...words]) });
  }
  const imports = new Set(
    [...text.matchAll(/^import [^;]*?\{([^}]*)\} from "\.[^"]*"/gm)].flatMap(([, list]) => namesIn(list)),
  );
  const reExports = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from "(\.[^"]*)"/gm)].map(([, list, from]) => ({
    names: namesIn(list),
    from,
  }));
  file = { declarations, imports, reExports };
  files.set(path, file);
  return file;
}

function namesIn(list) {
  return list
    .split(",")
    .map((name) => name.replace(/^\s*type\s/, "").trim())
    .filter(Boolean);
}
