// Ends in the requested way while processes with a child of their own still run, on pipes and on a terminal.
import { firstValueFrom, take, toArray } from "rxjs";
import { createSupervisor, lines } from "../../../dist/lib/index.js";

const [spawner, how] = process.argv.slice(2);
const supervisor = createSupervisor({ spawner });
const script = "trap '' TERM HUP; sleep 300 & echo $$; echo $!; wait";
for (const tty of [false, true]) {
  const shell = await supervisor.start({ argv: ["sh", "-c", script], env: { PATH: "/usr/bin:/bin" }, tty });
  for (const { text } of await firstValueFrom(lines(shell).pipe(take(2), toArray()))) console.log(text);
}

if (how === "exit") process.exit(3);
if (how === "throw") setImmediate(() => JSON.parse("this is not JSON"));
if (how === "reject") Promise.reject(new Error("nobody handles this"));
