// Runs commands that end right after they have started a job, six at a time, then closes the supervisor. Reports the number of
// jobs before and after that. With "subreaper" it is one.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { firstValueFrom, lastValueFrom, take, toArray } from "rxjs";
import { createSupervisor, lines } from "../../../dist/lib/index.js";

const ROUNDS = 5;
const AT_ONCE = 6;
const supervisor = createSupervisor({ spawner: "posix", subreaper: process.argv[2] === "subreaper" });
const script = "(echo $$; sh -c 'echo $PPID'; exec sleep 1000 <&- >&- 2>&-) & :";

const jobs = [];
for (let round = 0; round < ROUNDS; round += 1)
  jobs.push(...(await Promise.all(Array.from({ length: AT_ONCE }, leave))));
const before = jobs.filter(isAlive).length;
await supervisor.close({ graceMs: 100 });
for (let attempt = 0; attempt < 500 && jobs.some(isAlive); attempt += 1) await pause(10);
const after = jobs.filter(isAlive);
for (const pid of after) process.kill(pid, "SIGKILL");
console.log(JSON.stringify({ before, after: after.length }));

async function leave() {
  const shell = await supervisor.start({ argv: ["sh", "-c", script], env: { PATH: "/usr/bin:/bin" } });
  const [, job] = await firstValueFrom(lines(shell).pipe(take(2), toArray()));
  await lastValueFrom(shell.closed$);
  return Number(job.text);
}

function isAlive(pid) {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
  } catch {
    return false;
  }
}
