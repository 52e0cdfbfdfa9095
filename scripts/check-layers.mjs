// Enforces the layers below: imports only point down and enter a folder by its door, no cycles, no Node in browser code, no
// exported name twice, small files and folders.
// Usage: node scripts/check-layers.mjs [ROOT]. Prints one line per violation (file:line, what, rule) and exits with 1.
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { findFiles, lineAt, mask } from "./source.mjs";

/** A file imports from lower rows. Within its row it imports only from its own folder and from PEERS. */
const LAYERS = [
  /* 0 language  */ ["protocol"],
  /* 1 truth     */ ["lib/log", "lib/abort.ts", "lib/errors.ts", "lib/clock.ts", "lib/limits.ts", "lib/mutex.ts"],
  /* 2 contract  */ ["lib/process"],
  /* 3 machinery */ ["lib/host", "lib/spawn", "lib/sandbox", "lib/network", "lib/shell", "lib/files", "lib/telemetry"],
  /* 4 hosts     */ ["lib/local", "lib/transport"],
  /* 5 ends      */ ["lib/server", "lib/client", "lib/exec", "lib/codex"],
  /* 6 surface   */ ["lib/cli", "lib/connect.ts", "lib/browser.ts", "lib/index.ts"],
];

/** Imports allowed within a row: from -> to. */
const PEERS = {
  "lib/limits.ts": ["lib/errors.ts"],
  "lib/log": ["lib/abort.ts", "lib/errors.ts", "lib/clock.ts", "lib/limits.ts", "lib/mutex.ts"],
  "lib/sandbox": ["lib/spawn"],
  "lib/network": ["lib/sandbox", "lib/spawn"],
  "lib/shell": ["lib/spawn"],
  "lib/cli": ["lib/connect.ts"],
  "lib/codex": ["lib/server", "lib/client"],
  "lib/index.ts": ["lib/connect.ts"],
};

/** Within the project, these import only themselves and this list: no end knows how a host runs processes. */
const CONTRACT = [
  "protocol",
  "lib/log",
  "lib/abort.ts",
  "lib/errors.ts",
  "lib/clock.ts",
  "lib/limits.ts",
  "lib/mutex.ts",
  "lib/process",
];
const ONLY = {
  "lib/server": [...CONTRACT, "lib/telemetry", "lib/transport"],
  "lib/client": [...CONTRACT, "lib/transport"],
  "lib/codex": [...CONTRACT, "lib/host", "lib/files", "lib/telemetry", "lib/transport", "lib/server", "lib/client"],
};

/** Code that also runs in a browser: imports no `node:` module, only these packages, and only project code of this list. */
const BROWSER = [...CONTRACT, "lib/transport", "lib/client", "lib/browser.ts"];
const BROWSER_PACKAGES = ["rxjs", "msgpackr"];
const NODE_ONLY_FILES =
  /^lib\/transport\/(stream-pair|stream|lines|first-byte|command|websocket\/(?:websocket-server|websocket-client|websocket-node|one-request)|admission\/[a-z-]+)\.ts$/;
const PROTOCOL_PACKAGES = ["msgpackr"];
const NODE_GLOBALS = /\b(Buffer\.|NodeJS\.|setImmediate\(|process\.(nextTick|env|platform|hrtime|memoryUsage)\b)/g;

const MAX_CODE_LINES = 250;
/** More files directly in a folder are a drawer. */
const MAX_FILES = 17;
/** Programs, which are started and not imported. */
const ENTRIES = ["lib/cli/main.ts", "lib/codex/server/files/file-helper.ts"];
/** Exported more than once on purpose: each command defines itself, and a page connects as a program does. */
const SHARED_NAMES = ["define", "connect"];
const KEBAB_CASE = /^[a-z0-9]+(-[a-z0-9]+)*(\.ts)?$/;

const root = process.argv[2] ?? join(import.meta.dirname, "..");
const files = new Map();
for (const folder of ["protocol", "lib"]) {
  for (const path of findFiles(root, folder, ".ts")) files.set(path, readSource(path));
}

const doors = readDoors();
const violations = [...files.values()].flatMap((file) => [...checkShape(file), ...checkImports(file)]);
violations.push(...checkFolders(), ...checkNames(), ...findCycles());

for (const { path, line, what, rule } of violations) console.log(`${path}:${line} ${what} (${rule})`);
if (violations.length > 0) {
  process.exitCode = 1;
} else {
  const sizes = [...files.values()].map((file) => file.codeLines).sort((a, b) => a - b);
  const median = sizes[Math.floor(sizes.length / 2)] ?? 0;
  console.log(`layers ok: ${sizes.length} files, code lines median ${median}, max ${sizes.at(-1) ?? 0}`);
}

/** A file with its unit in LAYERS, its imports and its size. */
function readSource(path) {
  const text = readFileSync(join(root, path), "utf8");
  const { code, bare } = mask(text);
  const codeLines = code.split("\n").filter((line) => line.trim() !== "").length;
  return { path, bare, unit: unitOf(path), imports: findImports(path, code, bare), codeLines };
}

/** The door of each folder of lib: the files that its README links to, which other folders may import. */
function readDoors() {
  const folders = new Set([...files.keys()].filter((path) => path.startsWith("lib/")).flatMap(foldersOf));
  const entries = [...folders].map((folder) => {
    const readme = join(root, folder, "README.md");
    const links = existsSync(readme) ? readFileSync(readme, "utf8").matchAll(/\]\(([^)]+\.ts)\)/g) : [];
    return [folder, new Set(Array.from(links, ([, link]) => posix.join(folder, link)))];
  });
  return new Map(entries);
}

/** The folders around a file, below `lib`. */
function foldersOf(path) {
  const parts = path.split("/").slice(0, -1);
  return parts.slice(1).map((_, index) => parts.slice(0, index + 2).join("/"));
}

function* checkFolders() {
  for (const [folder, door] of doors) {
    const count = [...files.keys()].filter((path) => posix.dirname(path) === folder).length;
    if (count > MAX_FILES)
      yield { path: folder, line: 1, what: `has ${count} files`, rule: `at most ${MAX_FILES} a folder` };
    const path = `${folder}/README.md`;
    if (door.size === 0)
      yield { path, line: 1, what: "links to no file", rule: "a README names the door of its folder" };
    for (const file of door) {
      const isUsed = [...files.values()].some(
        ({ path: from, imports }) => !from.startsWith(`${folder}/`) && imports.some(({ target }) => target === file),
      );
      if (!isUsed && files.has(file) && !ENTRIES.includes(file))
        yield {
          path,
          line: 1,
          what: `links to ${file}, which no other folder imports`,
          rule: "a door leads somewhere",
        };
    }
  }
}

/** Two exported things of one name are mixed up, by readers and by the imports that editors add. */
function* checkNames() {
  const exported =
    /^export (?:declare |abstract |async )*(?:function\*?|class|interface|type|const|let|enum) ([A-Za-z0-9_$]+)/gm;
  const firstOf = new Map();
  for (const { path, bare } of files.values()) {
    for (const { 1: name, index } of bare.matchAll(exported)) {
      const first = firstOf.get(name);
      if (first === undefined) firstOf.set(name, path);
      else if (!SHARED_NAMES.includes(name)) {
        const what = `exports ${name}, as ${first} does`;
        yield { path, line: lineAt(bare, index), what, rule: "one name, one meaning" };
      }
    }
  }
}

function unitOf(path) {
  return LAYERS.flat().find((unit) => path === unit || path.startsWith(`${unit}/`));
}

function levelOf(unit) {
  return LAYERS.findIndex((row) => row.includes(unit));
}

function isBrowser({ path, unit }) {
  return BROWSER.includes(unit) && !NODE_ONLY_FILES.test(path);
}

/** Static, dynamic and type imports, and re-exports. Strings are blank in `bare`, so an import inside a string does not match. */
function findImports(path, code, bare) {
  return [...bare.matchAll(/\b(?:from|import|import\s*\()\s*(["'`])( *)\1/g)].map((match) => {
    const end = match.index + match[0].length - 1;
    const specifier = code.slice(end - match[2].length, end);
    const statement = bare.slice(0, match.index).match(/[\s\S]*\b(?:import|export)\b(\s+type\b)?/);
    const typeOnly = match[0].startsWith("from") && statement?.[1] !== undefined;
    const target = /^\.{1,2}(\/|$)/.test(specifier) ? posix.join(posix.dirname(path), specifier) : undefined;
    return { specifier, typeOnly, target, line: lineAt(bare, match.index) };
  });
}

function* checkShape({ path, unit, bare, codeLines }) {
  const at = (offset, what, rule) => ({ path, line: lineAt(bare, offset), what, rule });
  if (unit === undefined) yield at(0, "belongs to no layer", "every file must be in the table of layers");
  if (!path.split("/").every((part) => KEBAB_CASE.test(part))) yield at(0, "has a bad name", "kebab-case file names");
  if (codeLines > MAX_CODE_LINES) yield at(0, `has ${codeLines} code lines`, `at most ${MAX_CODE_LINES} per file`);
  for (const { index } of bare.matchAll(/\bexport\s+default\b|\bas\s+default\b/g)) {
    yield at(index, "exports a default", "no default exports");
  }
  for (const { index } of bare.matchAll(/\bexport\s+(type\s+)?\*/g)) yield at(index, "uses export *", "no export *");
  if (!isBrowser({ path, unit })) return;
  for (const { index, 0: name } of bare.matchAll(NODE_GLOBALS)) {
    yield at(index, `uses ${name.replace(/[.(]$/, "")}`, `${unit} runs in a browser`);
  }
}

function* checkImports(file) {
  for (const entry of file.imports) {
    yield* entry.target === undefined ? checkPackage(file, entry) : checkImport(file, entry);
  }
}

function* checkPackage({ path, unit, ...file }, { specifier, line }) {
  const name = specifier.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? specifier;
  const what = `imports ${specifier}`;
  if (name === "execwire") yield { path, line, what, rule: "the project imports itself by relative paths" };
  else if (unit === "protocol" && !PROTOCOL_PACKAGES.includes(name)) {
    yield { path, line, what, rule: `protocol imports only ${PROTOCOL_PACKAGES.join(", ")} and itself` };
  } else if (isBrowser({ path, unit, ...file }) && !BROWSER_PACKAGES.includes(name)) {
    yield { path, line, what, rule: `${unit} runs in a browser: only ${BROWSER_PACKAGES.join(", ")}` };
  }
}

function* checkImport(file, { target, typeOnly, line }) {
  const { path, unit } = file;
  const violation = (rule) => ({ path, line, what: `imports ${target}`, rule });
  if (target.endsWith(".json") || unit === undefined) return;
  if (!target.endsWith(".ts")) yield violation("import paths name the .ts file");
  for (const folder of foldersOf(target)) {
    if (path.startsWith(`${folder}/`) || doors.get(folder)?.has(target)) continue;
    yield violation(`${folder}/README.md names the files that other folders may import`);
  }
  const to = unitOf(target);
  if (to === undefined) yield violation("imports stay within the table of layers");
  if (to === undefined || to === unit) {
    if (to && isBrowser(file) && !typeOnly && NODE_ONLY_FILES.test(target))
      yield violation(`${path} runs in a browser`);
    return;
  }
  if (levelOf(to) > levelOf(unit)) {
    yield violation(`imports point down: ${unit} is layer ${levelOf(unit)}, ${to} is layer ${levelOf(to)}`);
  } else if (levelOf(to) === levelOf(unit) && !PEERS[unit]?.includes(to)) {
    yield violation(`${unit} and ${to} are both layer ${levelOf(to)}`);
  } else if (ONLY[unit] && !ONLY[unit].includes(to)) {
    yield violation(`${unit} imports only ${ONLY[unit].join(", ")}`);
  } else if (isBrowser(file) && !typeOnly && !isBrowser({ path: target, unit: to })) {
    yield violation(`${unit} runs in a browser, ${target} does not`);
  }
}

/** One violation for each import that closes a cycle in a depth-first walk. Type imports count: they are dependencies too. */
function* findCycles() {
  const done = new Set();
  function* visit(path, trail) {
    done.add(path);
    for (const { target, line } of files.get(path).imports) {
      const start = trail.indexOf(target);
      if (start >= 0) {
        yield { path, line, what: `closes ${[...trail.slice(start), target].join(" -> ")}`, rule: "no import cycles" };
      } else if (files.has(target) && !done.has(target)) {
        yield* visit(target, [...trail, target]);
      }
    }
  }
  for (const path of files.keys()) if (!done.has(path)) yield* visit(path, [path]);
}
