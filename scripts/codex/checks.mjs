// `npm run codex:checks`: runs every check of the protocol document on the Codex exec-server (`reference`) and on ours, and prints
// a line per difference. Options: --only ours|reference, --filter TEXT (in the id), --slow (also checks over 3 s), --verbose.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { checks } from "./checks/index.mjs";
import { formatObservations } from "./format-observations.mjs";
import { runCheck } from "./run-check.mjs";
import { exitOnSignals, findReference, howToGetReference, startServer } from "./servers.mjs";

exitOnSignals();
const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    filter: { type: "string", default: "" },
    slow: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
  },
});

let kinds = ["reference", "ours"].filter((kind) => kind === (options.only ?? kind));
if (kinds.includes("reference") && findReference() === undefined) {
  console.log(howToGetReference);
  kinds = kinds.filter((kind) => kind !== "reference");
  if (kinds.length === 0) process.exit(2);
}
const wanted = checks.filter(({ id, slow }) => id.includes(options.filter) && (options.slow || !slow));
const servers = new Map();
const counts = { expected: { reference: 0, ours: 0 }, better: 0, wrong: 0 };
try {
  for (const kind of kinds) servers.set(kind, await startServer(kind));
  for (const check of wanted) await compare(check);
  const agreeing = kinds.map((kind) => `${kind} agrees with ${counts.expected[kind]}`);
  console.log([`${wanted.length} checks`, ...agreeing, `${counts.better} better on purpose`].join(", "));
  // If the exec-server differs, the document or the check is wrong. Only our server can fail.
  process.exitCode = counts.wrong > 0 ? 1 : 0;
} catch (error) {
  console.error(error.message);
  process.exitCode = 2;
} finally {
  await Promise.all([...servers.values()].map((server) => server.stop()));
}

async function compare(check) {
  const begin = Date.now();
  const tested = kinds.filter((kind) => check.only === undefined || check.only === kind);
  const answers = await Promise.all(tested.map(async (kind) => [kind, await runCheck(check, servers.get(kind))]));
  for (const [kind, { verdict }] of answers) if (verdict === "expected") counts.expected[kind]++;
  const ours = answers.find(([kind]) => kind === "ours")?.[1].verdict;
  if (ours === "better") counts.better++;
  if (ours === "wrong") counts.wrong++;
  const isDifferent = answers.some(
    ([kind, { verdict }]) => verdict === "wrong" || (kind === "reference" && verdict === "better"),
  );
  const observed = formatObservations([["document", check.expect], ...answers.map(([kind, { seen }]) => [kind, seen])]);
  if (isDifferent) console.log(`DIFF ${check.id}: ${check.what} | ${observed}`);
  else if (ours === "better") console.log(`BETTER ${check.id}: ${check.better.why} | ${observed}`);
  else if (ours && check.better) console.log(`NOT YET BETTER ${check.id}: ${check.better.why} | ${observed}`);
  else if (options.verbose) console.log(`ok ${check.id} (${Date.now() - begin} ms)`);
  for (const [kind, { verdict }] of answers) {
    const { exited, hasEnded } = servers.get(kind);
    // The check may notice a crash before the exit event arrives here.
    if (verdict === "wrong") await Promise.race([exited, sleep(200)]);
    if (hasEnded()) await replace(kind, check);
  }
}

/** Replaces a server that did not survive a check, so that one crash does not fail the following checks. */
async function replace(kind, check) {
  const ended = servers.get(kind);
  console.log(`ENDED ${kind} during ${check.id}, with ${await ended.exited}:\n${ended.log().slice(-2_000)}`);
  await ended.stop();
  servers.set(kind, await startServer(kind));
}
