// As a subreaper, ends the tree of one process after another, while others are being started and when others have left a
// daemon behind. Reports how many of those were killed too.
import { readFileSync } from "node:fs";
import { firstValueFrom, lastValueFrom } from "rxjs";
import { createSupervisor, lines } from "../../../dist/lib/index.js";

const env = { PATH: "/usr/bin:/bin" };
const supervisor = createSupervisor({ subreaper: true, spawner: "posix" });
const sh = (script) => supervisor.start({ argv: ["sh", "-c", script], env });
const dead = { starting: 0, daemons: 0 };

for (let round = 0; round < 40; round += 1) {
  const victim = await supervisor.start({ argv: ["sleep", "1000"], env, tty: round % 2 === 0 });
  const starting = Promise.all([sh("sleep 0.02"), sh("sleep 0.02"), sh("sleep 0.02")]);
  // At a different moment of the spawn each time.
  for (let turn = 0; turn < round % 8; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  await victim.terminate({ graceMs: 0, scope: "tree" });
  const exits = await Promise.all((await starting).map((process) => firstValueFrom(process.exit$)));
  dead.starting += exits.filter(({ exitCode }) => exitCode !== 0).length;
}

const DAEMONS = {
  "of a session of its own": "setsid sleep 300 <&- >&- 2>&- & echo $!",
  "of its shell's session": "sleep 300 <&- >&- 2>&- & echo $!",
};
for (const script of Object.values(DAEMONS)) {
  const victim = await supervisor.start({ argv: ["sleep", "1000"], env });
  const origin = await sh(script);
  const pid = Number((await firstValueFrom(lines(origin))).text);
  await lastValueFrom(origin.closed$);
  await victim.terminate({ graceMs: 0, scope: "tree" });
  await lastValueFrom(victim.closed$);
  // A kill takes some time: a process that survived this pause was not killed.
  await lastValueFrom((await sh("sleep 0.1")).closed$);
  if (isAlive(pid)) process.kill(pid, "SIGKILL");
  else dead.daemons += 1;
}
await supervisor.close();
console.log(JSON.stringify(dead));

function isAlive(pid) {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
  } catch {
    return false;
  }
}
