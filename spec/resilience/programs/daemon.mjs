// Runs two processes at a time whose daemons left session, parents and all of their descriptors; terminates the tree of one and
// then that of the other, and starts again at once. Reports which processes were alive before, between and after.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { firstValueFrom, take, toArray } from "rxjs";
import { createSupervisor, lines } from "../../../dist/lib/index.js";

const ROUNDS = 6;
const supervisor = createSupervisor({ subreaper: true, spawner: "posix" });
// setsid and a second fork: nothing links the daemon to its parent any more.
const daemon = "echo $$; exec sleep 300 <&- >&- 2>&-";
const script = `(setsid sh -c '(setsid sh -c "${daemon.replaceAll("$", "\\$")}" &)' &); echo $$; exec sleep 300`;

const rounds = [];
for (let round = 0; round < ROUNDS; round += 1) rounds.push(await endBoth());
await supervisor.close();
console.log(JSON.stringify(rounds));

async function endBoth() {
  const first = await startTree();
  const second = await startTree();
  const alive = () => [...first.pids, ...second.pids].map(isAlive);
  const before = alive();
  await endTree(first);
  const between = alive();
  await endTree(second);
  const after = alive();
  for (const pid of [...first.pids, ...second.pids]) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  return { before, between, after };
}

/** A shell, and the pids of the shell and its daemon in either order. */
async function startTree() {
  const shell = await supervisor.start({ argv: ["sh", "-c", script], env: { PATH: "/usr/bin:/bin" } });
  const told = await firstValueFrom(lines(shell).pipe(take(2), toArray()));
  return { shell, pids: told.map(({ text }) => Number(text)) };
}

async function endTree({ shell, pids }) {
  await shell.terminate({ scope: "tree" });
  await firstValueFrom(shell.exit$);
  for (let attempt = 0; attempt < 500 && pids.some(isAlive); attempt += 1) await pause(5);
}

function isAlive(pid) {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
  } catch {
    return false;
  }
}
