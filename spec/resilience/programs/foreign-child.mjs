// Counts the 'exit' events of children of child_process while execwire supervises other children in the same program.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { lastValueFrom } from "rxjs";
import { createSupervisor } from "../../../dist/lib/index.js";

const supervisor = createSupervisor({ spawner: "posix", subreaper: process.argv[2] === "subreaper" });

async function foreign(code) {
  const child = spawn("/bin/sh", ["-c", `exit ${code}`]);
  const [exitCode] = await once(child, "exit");
  return exitCode;
}

async function ours(code) {
  const child = await supervisor.start({ argv: ["/bin/sh", "-c", `exit ${code}`] });
  await lastValueFrom(child.closed$);
  return child.info.exitCode;
}

const codes = Array.from({ length: 60 }, (_, index) => index);
const [theirs, own] = await Promise.all([Promise.all(codes.map(foreign)), Promise.all(codes.map(ours))]);
await supervisor.close();
console.log(JSON.stringify({ theirs, own }));
