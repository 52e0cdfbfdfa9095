// Starts one process and never closes its supervisor: the program must live as long as the process, and no longer.
import { createSupervisor } from "../../../dist/lib/index.js";

const [spawner, tty, script] = process.argv.slice(2);
const supervisor = createSupervisor({ spawner });
const child = await supervisor.start({
  argv: ["/bin/sh", "-c", script],
  env: { PATH: "/usr/bin:/bin" },
  tty: tty === "tty",
});
// Reported at the end, so that only the supervisor keeps the program alive.
process.on("exit", () => {
  const { state, exitCode } = child.info;
  console.log(JSON.stringify({ state, exitCode }));
});
