// Terminates the trees of processes, one right after another, whose daemons left session, parents and all of their descriptors.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { firstValueFrom, take, toArray } from "rxjs";
import { createSupervisor, lines } from "../../../dist/lib/index.js";

const ROUNDS = 6;
const supervisor = createSupervisor({ subreaper: true, spawner: "posix" });
// setsid and a second fork: nothing leads from the daemon to its origin any more.
const daemon = "echo $$; exec sleep 300 <&- >&- 2>&-";
const script = `(setsid sh -c '(setsid sh -c "${daemon.replaceAll("$", "\\$")}" &)' &); echo $$; exec sleep 300`;

const rounds = [];
for (let round = 0; round < ROUNDS; round += 1) rounds.push(await endTree());
await supervisor.close();
console.log(JSON.stringify(rounds));

async function endTree() {
  const shell = await supervisor.start({ argv: ["sh", "-c", script], env: { PATH: "/usr/bin:/bin" } });
  const told = await firstValueFrom(lines(shell).pipe(take(2), toArray()));
  const pids = told.map(({ text }) => Number(text));
  const before = pids.map(isAlive);
  await shell.terminate({ scope: "tree" });
  const exit = await firstValueFrom(shell.exit$);
  await until(() => !pids.some(isAlive));
  // The pid of the shell is given up, and the next process begins later as start times count; the zombie of the daemon is still there.
  await until(() => stateOf(shell.info.pid) === undefined);
  const released = uptime();
  await until(() => uptime() > released + 0.05);
  const after = pids.map(isAlive);
  for (const pid of pids) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  return { before, signal: exit.signal, after };
}

async function until(isSo) {
  for (let attempt = 0; attempt < 500 && !isSo(); attempt += 1) await pause(5);
}

function uptime() {
  return Number.parseFloat(readFileSync("/proc/uptime", "latin1"));
}

function isAlive(pid) {
  return !["Z", undefined].includes(stateOf(pid));
}

function stateOf(pid) {
  try {
    return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1];
  } catch {
    return undefined;
  }
}
