// Runs a command that floods stdout without a newline, and reports how much output was kept and how much memory that took.
import { createSupervisor, run } from "../../../dist/lib/index.js";

const bytes = Number(process.argv[2]);
const supervisor = createSupervisor();
const argv = ["sh", "-c", `printf begin; head -c ${bytes} /dev/zero | tr '\\0' x; printf end`];
await run(supervisor, { argv: ["true"] });
const before = process.memoryUsage().rss;
let peak = before;
const sampling = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().rss);
}, 20);
const { stdout, exitCode } = await run(supervisor, { argv, env: { PATH: "/usr/bin:/bin" } }, { timeoutMs: 120_000 });
clearInterval(sampling);
await supervisor.close();
console.log(
  JSON.stringify({
    exitCode,
    totalBytes: stdout.totalBytes,
    keptBytes: stdout.bytes.length,
    ends: [stdout.text.slice(0, 6), stdout.text.slice(-4)],
    grownMiB: Math.ceil((peak - before) / 1024 / 1024),
  }),
);
