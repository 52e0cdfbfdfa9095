// Benchmarks starts in a sandbox, on a managed network and with a shell snapshot, against bare bubblewrap. Needs `npm run build`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { firstValueFrom } from "rxjs";
import { createSupervisor } from "../../dist/lib/index.js";

const ROUNDS = Number(process.env.ROUNDS ?? 100);
const WARM_UP = 10;
const AT_ONCE = 50;
/** Enough to make a namespace for the pool. */
const POOL_MS = 60;
const BARE = [
  ...["--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net"],
  ...["--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--", "/bin/true"],
];

const supervisor = createSupervisor({ limits: { closedProcesses: 16 } });
const files = [{ path: { named: "root" }, access: "read" }];
const env = { PATH: "/usr/bin:/bin", HOME: process.env.HOME ?? "/" };
const ours = (spec) => async () => {
  const child = await supervisor.start({ argv: ["/bin/true"], env, cwd: "/", ...spec });
  const { exitCode } = await firstValueFrom(child.exit$);
  await firstValueFrom(child.closed$);
  if (exitCode !== 0) throw new Error(`exit code ${exitCode}`);
};
const managed = { files, network: { mode: "managed", allow: [] } };
const bare = async () => {
  const [code] = await once(spawn("/usr/bin/bwrap", BARE, { env: {}, stdio: "ignore" }), "close");
  if (code !== 0) throw new Error(`exit code ${code}`);
};
const contestants = {
  "bare bwrap": bare,
  "no sandbox": ours({}),
  "read-only": ours({ sandbox: { files } }),
  "managed network": async () => {
    await ours({ sandbox: managed })();
    // The next namespace is made meanwhile: what is measured is the set-up with a warm pool.
    await new Promise((resolve) => setTimeout(resolve, POOL_MS));
  },
  "bash -c": ours({ argv: ["/bin/bash", "-c", "true"] }),
  "bash, snapshot": ours({ argv: ["/bin/bash", "-lc", "true"], shellSnapshot: { scope: "bench" } }),
};

// In turns, so that all meet the same machine.
const latencies = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
for (let round = -WARM_UP; round < ROUNDS; round += 1) {
  for (const [name, run] of Object.entries(contestants)) {
    const start = performance.now();
    await run();
    if (round >= 0) latencies[name].push(performance.now() - start - (name === "managed network" ? POOL_MS : 0));
  }
}
console.log("start to closed     p50 ms   p95 ms   to bare bwrap");
const reference = quantile(latencies["bare bwrap"], 0.5);
for (const [name, values] of Object.entries(latencies)) {
  const p50 = quantile(values, 0.5);
  const cells = [p50, quantile(values, 0.95)].map((value) => value.toFixed(2).padStart(8));
  console.log(`${name.padEnd(17)} ${cells.join(" ")} ${(p50 / reference).toFixed(2).padStart(15)}`);
}

console.log(`\n${AT_ONCE} at once          p50 ms   p95 ms   p99 ms   succeeded   longest block of the main thread`);
for (const name of ["bare bwrap", "read-only", "managed network"]) {
  const run = name === "managed network" ? ours({ sandbox: managed }) : contestants[name];
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const start = performance.now();
  const results = await Promise.allSettled(
    Array.from({ length: AT_ONCE }, async () => {
      await run();
      return performance.now() - start;
    }),
  );
  delay.disable();
  const done = results.flatMap(({ status, value }) => (status === "fulfilled" ? [value] : []));
  const cells = [0.5, 0.95, 0.99].map((q) => quantile(done, q).toFixed(1).padStart(8));
  const block = `${(delay.max / 1e6).toFixed(1)} ms`;
  console.log(
    `${name.padEnd(17)} ${cells.join(" ")} ${`${done.length}/${AT_ONCE}`.padStart(11)} ${block.padStart(20)}`,
  );
}
await supervisor.close();

function quantile(values, q) {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))];
}
