// Supervises a process in addition to a child of its own, with or without a guard, until it is killed, or until the process has
// ended, if it is asked to start one that ends.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createSupervisor } from "../../../dist/lib/index.js";

const [spawner, onSupervisorDeath, script] = process.argv.slice(2);
const supervisor = createSupervisor({ spawner, ...(onSupervisorDeath !== "default" && { onSupervisorDeath }) });
const own = spawn("/bin/sleep", ["300"], { stdio: "ignore" });
own.unref();
const child = await supervisor.start({ argv: ["/bin/sh", "-c", script], env: { PATH: "/usr/bin:/bin" } });
console.log(JSON.stringify({ own: own.pid, supervised: child.info.pid, children: children() }));

function children() {
  const text = readFileSync(`/proc/self/task/${process.pid}/children`, "latin1");
  return text.split(" ").filter(Boolean).map(Number);
}
