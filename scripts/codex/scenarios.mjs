// `npm run codex`: runs the real Codex CLI offline against our server, through the scenarios of the harness in the folder
// $CODEX_CLIENT. Options: --scenario a,b --times N --out DIR; --reference runs them against the Codex exec-server instead.
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { resultOf } from "./scenario-result.mjs";
import { exitOnSignals, findReference, howToGetReference, main, root, startServer } from "./servers.mjs";

exitOnSignals();
const { values: options } = parseArgs({
  options: {
    scenario: { type: "string", default: "all" },
    times: { type: "string", default: "1" },
    out: { type: "string", default: join(homedir(), ".cache", "execwire-codex") },
    reference: { type: "boolean", default: false },
  },
});

const harness = resolve(root, process.env.CODEX_CLIENT ?? "../shared/codex-client");
const codex = findReference();
const missing = [
  codex === undefined && howToGetReference,
  !existsSync(join(harness, "run.mjs")) &&
    `there is no harness in ${harness}: set CODEX_CLIENT to the folder with its run.mjs`,
  !options.reference && !existsSync(main) && "our server is not built: npm run build",
].filter(Boolean);
if (missing.length > 0) {
  for (const what of missing) console.error(what);
  process.exit(2);
}

const { scenarios } = await import(pathToFileURL(join(harness, "scenarios.mjs")).href);
const known = Object.keys(scenarios);
const names =
  options.scenario === "all" ? known.filter((name) => !scenarios[name].manual) : options.scenario.split(",");
const unknown = names.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`unknown scenario ${unknown.join(", ")}; the scenarios are: ${known.join(", ")}`);
  process.exit(2);
}

const scratch = mkdtempSync(join(tmpdir(), "execwire-codex-"));
const counts = { PASS: 0, REFUSED: 0, FAIL: 0 };
try {
  for (let time = 0; time < Number(options.times); time++) await runAll();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
if (counts.FAIL > 0)
  console.log(`the traces are in ${options.out}/SCENARIO (frames.jsonl, summary.json, codex-stderr.log)`);
console.log(`${counts.PASS} passed, ${counts.REFUSED} refused, ${counts.FAIL} failed`);
process.exitCode = counts.FAIL > 0 ? 1 : 0;

/** Runs all scenarios on one fresh server. */
async function runAll() {
  const server = await startServer(options.reference ? "reference" : "ours");
  const binary = options.reference ? codex : wrapper();
  try {
    for (const name of names) {
      const begin = Date.now();
      await runHarness(server, binary, name);
      const { status, why } = resultOf(name, join(options.out, name));
      counts[status]++;
      const seconds = `${((Date.now() - begin) / 1000).toFixed(1)} s`;
      console.log(`${status.padEnd(8)}${name.padEnd(16)}${seconds.padStart(7)}  ${why}`.trimEnd());
    }
  } finally {
    await server.stop();
  }
}

/** Runs one scenario; its result is in its folder. */
function runHarness(server, binary, name) {
  const args = ["--url", server.url, "--token", server.token, "--scenario", name, "--out", options.out];
  rmSync(join(options.out, name), { recursive: true, force: true });
  // The harness resolves `ws` from its working directory.
  const child = spawn(process.execPath, [join(harness, "run.mjs"), ...args], {
    cwd: root,
    env: { ...process.env, CODEX_BIN: binary },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return new Promise((done) => child.on("exit", done));
}

/** A wrapper of the codex binary that runs our server as `exec-server`: in the stdio scenario the CLI starts its own server. */
function wrapper() {
  const path = join(scratch, "codex");
  const ours = `shift\n  exec '${process.execPath}' '${main}' serve "$@"`;
  writeFileSync(path, `#!/bin/sh\nif [ "$1" = exec-server ]; then\n  ${ours}\nfi\nexec '${codex}' "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}
