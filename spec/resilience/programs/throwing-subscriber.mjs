// Every subscriber of a process throws in every callback; the process and this program continue.
import { firstValueFrom } from "rxjs";
import { createSupervisor } from "../../../dist/lib/index.js";

const supervisor = createSupervisor({ spawner: process.argv[2] });
const mistake = (name) => () => {
  throw new Error(`mistake in ${name}`);
};
supervisor.changes$.subscribe(mistake("changes"));
const child = await supervisor.start({ argv: ["/bin/sh", "-c", "echo one; read line; echo $line"], pipeStdin: true });
child.output$.subscribe(mistake("output"));
child.exit$.subscribe(mistake("exit"));
let bytes = 0;
child.output$.subscribe((event) => {
  bytes += event.chunk.length;
});
await child.write("two\n");
await firstValueFrom(child.closed$);
await supervisor.close();
console.log(JSON.stringify({ bytes, exitCode: child.info.exitCode }));
