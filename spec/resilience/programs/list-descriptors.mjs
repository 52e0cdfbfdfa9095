// Reports the descriptors of children on pipes and on a terminal, and whether this program has descriptor 7.
import { existsSync } from "node:fs";
import { createSupervisor, text } from "../../../dist/lib/index.js";

const supervisor = createSupervisor({ spawner: "posix" });

async function descriptorsOfChild(tty) {
  const child = await supervisor.start({
    argv: ["/bin/sh", "-c", "ls /proc/$$/fd"],
    env: { PATH: "/usr/bin:/bin" },
    tty,
  });
  let printed = "";
  await text(child).forEach((piece) => {
    printed += piece;
  });
  return printed.split(/\s+/).filter(Boolean);
}

const report = {
  host: existsSync("/proc/self/fd/7"),
  pipe: await descriptorsOfChild(false),
  tty: await descriptorsOfChild(true),
};
console.log(JSON.stringify(report));
await supervisor.close();
