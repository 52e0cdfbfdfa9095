// Benchmarks starts: latency, blocked main thread and rate, against child_process and node-pty. Needs `npm run build`.
import { spawn as spawnChild } from "node:child_process";
import { once } from "node:events";
import * as pty from "node-pty";
import { firstValueFrom } from "rxjs";
import { createSupervisor } from "../../dist/lib/index.js";

const ROUNDS = 300;
const WARM_UP = 20;
const LARGE_BYTES = 1024 ** 3;

const supervisor = createSupervisor({ limits: { closedProcesses: 16 } });
const spec = { argv: ["/bin/true"], env: {} };
const ours = (tty) => async () => {
  const child = await supervisor.start({ ...spec, tty });
  await firstValueFrom(child.closed$);
};
const contestants = {
  "execwire pipe": ours(false),
  child_process: () => once(spawnChild("/bin/true", [], { env: {} }), "close"),
  "execwire tty": ours(true),
  "node-pty": () => new Promise((resolve) => pty.spawn("/bin/true", [], { env: {} }).onExit(resolve)),
};

const small = await measureAll();
console.log(`at ${megabytes()} MB RSS`);
print(small);
// Filled, so that it is resident.
const ballast = Buffer.alloc(LARGE_BYTES, 1);
const large = await measureAll();
console.log(`\nat ${megabytes()} MB RSS (${ballast.length} bytes more)`);
print(large);
console.log("\nblocked, large over small (flat is 1)");
for (const name of Object.keys(contestants)) {
  console.log(`${name.padEnd(16)} ${(large[name].blocked / small[name].blocked).toFixed(1)}`);
}
await supervisor.close();

async function measureAll() {
  const results = {};
  for (const [name, run] of Object.entries(contestants)) results[name] = await measure(run);
  return results;
}

async function measure(run) {
  for (let round = 0; round < WARM_UP; round += 1) await run();
  const latencies = [];
  const blocks = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    const busy = performance.eventLoopUtilization();
    await run();
    latencies.push(performance.now() - start);
    blocks.push(performance.eventLoopUtilization(busy).active);
  }
  const start = performance.now();
  let started = 0;
  const lane = async () => {
    while (started < ROUNDS) {
      started += 1;
      await run();
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  const rate = (started / (performance.now() - start)) * 1000;
  return { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), blocked: quantile(blocks, 0.5), rate };
}

function quantile(values, q) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * q)];
}

function print(results) {
  console.log("                  closed p50   p99 ms   main thread ms   8 at once /s   p50, busy, rate to its peer");
  for (const [name, { p50, p99, blocked, rate }] of Object.entries(results)) {
    const peer = { "execwire pipe": "child_process", "execwire tty": "node-pty" }[name];
    const to = results[peer];
    const ratios = to ? `${times(p50, to.p50)} ${times(blocked, to.blocked)} ${times(rate, to.rate)}` : "";
    const cells = [p50.toFixed(2).padStart(10), p99.toFixed(2).padStart(8), blocked.toFixed(2).padStart(16)];
    console.log(`${name.padEnd(16)} ${cells.join(" ")} ${rate.toFixed(0).padStart(14)}   ${ratios}`);
  }
}

function times(value, other) {
  return `${(value / other).toFixed(2)}x`;
}

function megabytes() {
  return Math.round(process.memoryUsage().rss / 1e6);
}
