// Changes one thing at a time in a source file, a condition, an operator, a statement, and runs the specs of its folder on it: a
// mutant that no spec notices survives, and may be behaviour that no spec asserts. Usage:
//   node scripts/mutants.mjs lib/client/reconnecting.ts [spec/unit/client/link spec/unit/client] [--every N] [--only 3,17]
// The specs are run in the order given, up to the first that fails; by default those named after the file, then its folder. It
// works in a copy of the tree with one worker, so no mutant is ever in the working tree. One line for each survivor, with its
// number for --only, then the score. About two seconds a mutant.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { parseSync } from "@swc/core";

const root = join(import.meta.dirname, "..");
/** What the specs need; the rest of the tree is not copied. */
const COPIED = ["lib", "protocol", "spec", "scripts", "package.json", "tsconfig.json"];
/** Of one test; a mutant often waits for what never comes. */
const TEST_MS = 2_000;
/** Of all specs on one mutant; some never end. */
const RUN_MS = 45_000;

const SWAPPED = new Map(
  [
    ["&&", "||"],
    ["<", "<="],
    [">", ">="],
    ["+", "-"],
    ["===", "!=="],
    ["+=", "-="],
  ].flatMap(([one, other]) => [
    [one, other],
    [other, one],
  ]),
);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { every: { type: "string", default: "1" }, only: { type: "string" } },
});
const [file, ...named] = positionals;
if (!file || !existsSync(join(root, file))) {
  console.error("usage: node scripts/mutants.mjs FILE [SPECS ...] [--every N] [--only 3,17]");
  process.exit(2);
}
const source = readFileSync(join(root, file));
const specs = named.length > 0 ? named : ownSpecs();
const copy = mkdtempSync(join(tmpdir(), "mutants-"));
try {
  for (const name of COPIED) cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  judge();
} finally {
  rmSync(copy, { recursive: true, force: true });
}

/** Runs the specs on each mutant and prints what survives. */
function judge() {
  if (!specs.every(pass)) throw new Error(`${specs.join(" ")} fail without a mutant`);
  const only = values.only?.split(",").map(Number);
  const mutants = [...mutantsOf(source)]
    .map((mutant, number) => ({ ...mutant, number }))
    .filter(({ number }) => (only ? only.includes(number) : number % Number(values.every) === 0));
  let killed = 0;
  for (const { start, end, text, number } of mutants) {
    writeFileSync(
      join(copy, file),
      Buffer.concat([source.subarray(0, start), Buffer.from(text), source.subarray(end)]),
    );
    if (!specs.every(pass)) killed += 1;
    else
      console.log(
        `#${number} ${file}:${lineAt(start)}: ${excerpt(source.subarray(start, end))} -> ${excerpt(text) || "(removed)"}`,
      );
  }
  console.log(`${file}: ${killed} of ${mutants.length} killed, ${Math.round((100 * killed) / mutants.length)} %`);
}

/** The specs named after the file, where most mutants end, and those of its folder. */
function ownSpecs() {
  const folder = dirname(file).replace(/^lib/, "spec/unit");
  const own = join(folder, basename(file, ".ts"));
  return existsSync(join(root, `${own}.spec.ts`)) ? [own, folder] : [folder];
}

/** Whether the specs pass in the copy. */
function pass(pattern) {
  const jest = [
    "node_modules/jest/bin/jest.js",
    "-c",
    "scripts/jest.config.mjs",
    "--cacheDirectory",
    join(copy, "cache"),
  ];
  const { status } = spawnSync(
    process.execPath,
    ["--experimental-vm-modules", ...jest, "--runInBand", "--bail", `--testTimeout=${TEST_MS}`, "--forceExit", pattern],
    { cwd: copy, stdio: "ignore", timeout: RUN_MS, killSignal: "SIGKILL", env: { ...process.env, FUZZ: "0.2" } },
  );
  return status === 0;
}

/** Every replacement of a range of bytes. */
function* mutantsOf(bytes) {
  // The position of the first byte of a file; swc counts from 1, in bytes.
  const base = parseSync(";", { syntax: "typescript" }).body[0].span.start;
  const tree = parseSync(bytes.toString(), { syntax: "typescript", target: "es2022" });
  const textOf = ({ span }) => bytes.subarray(span.start - base, span.end - base).toString();
  const replaced = ({ span }, text) => ({ start: span.start - base, end: span.end - base, text });

  function* visit(node, parent) {
    if (Array.isArray(node)) for (const each of node) yield* visit(each, parent);
    if (typeof node?.type !== "string") {
      // Arguments and declarators are wrapped in objects without a type.
      if (node && typeof node === "object" && !Array.isArray(node))
        for (const each of Object.values(node)) yield* visit(each, parent);
      return;
    }
    if (
      node.type.startsWith("Ts") &&
      !["TsAsExpression", "TsNonNullExpression", "TsParameterProperty"].includes(node.type)
    )
      return;
    if (node.test) yield replaced(node.test, `!(${textOf(node.test)})`);
    if (node.type === "ExpressionStatement" && node.expression.callee?.type !== "Super") yield replaced(node, ";");
    if (node.type === "BooleanLiteral") yield replaced(node, String(!node.value));
    if (node.type === "ArrowFunctionExpression" && /^(Call|Assignment)Expression$/.test(node.body.type)) {
      yield replaced(node.body, "undefined");
    }
    // A comparison that is the whole condition is negated already.
    const isNegated = parent?.test === node && /^[=!]==$/.test(node.operator);
    if (SWAPPED.has(node.operator) && node.left && !isNegated) {
      const between = { span: { start: node.left.span.end, end: node.right.span.start } };
      yield replaced(between, textOf(between).replace(node.operator, SWAPPED.get(node.operator)));
    }
    for (const [name, child] of Object.entries(node)) if (name !== "span") yield* visit(child, node);
  }
  yield* visit(tree.body);
}

function lineAt(offset) {
  return source.subarray(0, offset).toString().split("\n").length;
}

function excerpt(bytes) {
  const text = bytes.toString().replace(/\s+/g, " ").trim().replace(/^;$/, "");
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
