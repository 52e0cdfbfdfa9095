// Exits right after the end of a process that left jobs behind; prints the output of that process.
import { firstValueFrom, lastValueFrom, take, toArray } from "rxjs";
import { createSupervisor, lines } from "../../../dist/lib/index.js";

const [spawner, ...argv] = process.argv.slice(2);
const supervisor = createSupervisor({ spawner });
const env = { PATH: "/usr/bin:/bin" };
const shell = await supervisor.start({ argv, env, pipeStdin: true });
for (const { text } of await firstValueFrom(lines(shell).pipe(take(4), toArray()))) console.log(text);
await shell.closeStdin();
await lastValueFrom(shell.closed$);
process.exit(0);
