// As a subreaper, runs a shell that leaves a thousand orphans; reports our zombies while that shell runs and after its end.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { firstValueFrom } from "rxjs";
import { createSupervisor, lines } from "../../../dist/lib/index.js";

const ORPHANS = 1000;
const supervisor = createSupervisor({ subreaper: true, onSupervisorDeath: "keep" });
// Each orphan outlives its parent; every fifth one leads a session of its own, which does not show its parent.
const script = `
i=0
while [ $i -lt ${ORPHANS} ]; do
  if [ $((i % 5)) = 0 ]; then (setsid sleep 0.1 &); else (sleep 0.1 &); fi
  i=$((i + 1))
done
echo made
read line
exit 5`;
const shell = await supervisor.start({ argv: ["sh", "-c", script], env: { PATH: "/usr/bin:/bin" }, pipeStdin: true });

let mostChildren = 0;
const watch = setInterval(() => {
  mostChildren = Math.max(mostChildren, children().length);
}, 5);
await firstValueFrom(lines(shell));
const whileRunning = await emptied(() => children().filter((pid) => pid !== shell.info.pid));
await shell.write("end\n");
const exit = await firstValueFrom(shell.exit$);
await firstValueFrom(shell.closed$);
clearInterval(watch);
const afterwards = await emptied(children);
await supervisor.close();
console.log(JSON.stringify({ whileRunning, exitCode: exit.exitCode, afterwards, sawOrphans: mostChildren > 10 }));

function children() {
  return readdirSync("/proc/self/task").flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, "latin1").split(" ").filter(Boolean).map(Number),
  );
}

async function emptied(look) {
  for (let attempt = 0; attempt < 200 && look().length > 0; attempt += 1) await pause(50);
  return look().length;
}
