// Starts processes until the system has no descriptors left (the caller set a low `ulimit -n`), then continues with fewer.
import { readdirSync } from "node:fs";
import { firstValueFrom } from "rxjs";
// Not the whole library: the module loader opens many files at once.
import { createSupervisor } from "../../../dist/lib/local/supervisor.js";
import { lines } from "../../../dist/lib/process/lines.js";

const [spawner, kind] = process.argv.slice(2);
const supervisor = createSupervisor({ spawner });
const spec = { argv: ["/bin/cat"], ...(kind === "tty" ? { tty: true } : { pipeStdin: true }) };
const descriptors = () => readdirSync("/proc/self/fd").length;

const running = [];
let refusal;
while (!refusal && running.length < 100) {
  try {
    running.push(await supervisor.start(spec));
  } catch (error) {
    refusal = error;
  }
}
// A second refusal must not cost a descriptor either. Free one first, since counting needs it.
await running.pop().terminate({ graceMs: 0 }).then(settle);
const before = await settle();
const refusals = [];
for (let attempt = 0; attempt < 50; attempt += 1) {
  const more = [];
  try {
    for (;;) more.push(await supervisor.start(spec));
  } catch (error) {
    refusals.push(`${error.code} ${error.data?.kind}`);
  }
  for (const process of more) await end(process);
}
const leaked = (await settle()) - before;

// Free enough descriptors to start programs, then check that all other processes still run.
for (const process of running.splice(0, 3)) await end(process);
const again = await supervisor.start(spec);
running.push(again);
const answers = [];
for (const [index, process] of running.entries()) {
  const answer = firstValueFrom(lines(process));
  await process.write(`line ${index}\n`);
  answers.push((await answer).text === `line ${index}`);
}
await supervisor.close({ graceMs: 0 });
console.log(
  JSON.stringify({
    refusal: `${refusal.code} ${refusal.data?.kind}`,
    names: refusal.message,
    refusals: [...new Set(refusals)],
    leaked,
    answered: answers.length > 2 && answers.every(Boolean),
  }),
);

async function end(process) {
  await process.terminate({ graceMs: 0 });
  await firstValueFrom(process.closed$);
}

/** Descriptors of streams are closed a turn after their end. */
async function settle() {
  await new Promise((resolve) => setTimeout(resolve, 50));
  return descriptors();
}
