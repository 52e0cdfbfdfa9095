// Terminates the trees of processes, one after another, whose daemons left session, parents and all of their descriptors.
import { firstValueFrom, take, toArray } from "rxjs";
import { createSupervisor, lines } from "../../../dist/lib/index.js";

const ROUNDS = 4;
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
  const pids = await firstValueFrom(lines(shell).pipe(take(2), toArray()));
  const before = pids.map(({ text }) => isAlive(Number(text)));
  await shell.terminate({ scope: "tree" });
  const exit = await firstValueFrom(shell.exit$);
  await firstValueFrom(shell.closed$);
  for (let attempt = 0; attempt < 100 && pids.some(({ text }) => isAlive(Number(text))); attempt += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const after = pids.map(({ text }) => isAlive(Number(text)));
  for (const { text } of pids) if (isAlive(Number(text))) process.kill(Number(text), "SIGKILL");
  return { before, signal: exit.signal, after };
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
