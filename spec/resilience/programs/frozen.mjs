// A program that has frozen the built-in objects, like hardened ones, runs a process whose pipes outlive it.
import { firstValueFrom, toArray } from "rxjs";
import { createSupervisor, lines } from "../../../dist/lib/index.js";

Object.freeze(Error);
const supervisor = createSupervisor();
const shell = await supervisor.start({ argv: ["/bin/sh", "-c", "sleep 0.2 & echo printed"] });
const printed = await firstValueFrom(lines(shell).pipe(toArray()));
await supervisor.close();
console.log(JSON.stringify(printed.map(({ text }) => text)));
