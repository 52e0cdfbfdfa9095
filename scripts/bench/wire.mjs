// Benchmarks starts, echoes and bulk through a server in another process, against child_process. Needs `npm run build`.
import { fork, spawn as spawnChild } from "node:child_process";
import { once } from "node:events";
import { connect, createSupervisor, serve } from "../../dist/lib/index.js";

const SECONDS = Number(process.env.SECONDS ?? 2);
const BULK_BYTES = 512 * 1024 * 1024;
const PARALLEL = 8;
const HEAD = ["/usr/bin/head", "-c", `${BULK_BYTES}`, "/dev/zero"];

if (process.argv[2] === "server") await serveParent();
else await measure();

/** The server process: sends its address to the parent, and ends with the parent. */
async function serveParent() {
  const supervisor = createSupervisor();
  const server = await serve(supervisor, { auth: { kind: "none" }, listen: { host: "127.0.0.1", port: 0 } });
  process.send(server.url);
  await once(process, "disconnect");
  await supervisor.close({ graceMs: 0 });
  await server.close();
}

async function measure() {
  const server = fork(import.meta.filename, ["server"], {
    execArgv: (process.env.SERVER_FLAGS ?? "").split(" ").filter(Boolean),
  });
  const [url] = await once(server, "message");
  const remote = await connect(url);
  const local = createSupervisor();
  const contenders = { "over the wire": ours(remote), "in this process": ours(local), child_process: plain() };

  console.log("                     over the wire  in this process  child_process  wire/child_process");
  for (const [name, unit, act] of [
    ["start to closed p50", "ms", (it) => latency(it.startToClosed, 0.5)],
    ["start to closed p99", "ms", (it) => latency(it.startToClosed, 0.99)],
    ["write to echo p50", "ms", (it) => it.withCat((echo) => latency(echo, 0.5))],
    ["write to echo p99", "ms", (it) => it.withCat((echo) => latency(echo, 0.99))],
    [`starts, ${PARALLEL} at once`, "/s", (it) => rate(it.startToClosed)],
    ["bulk, lossless", "GB/s", bulk],
  ]) {
    const row = [];
    for (const contender of Object.values(contenders)) row.push(await act(contender));
    const [wire, , child] = row;
    const columns = row.map((value, index) => value.toFixed(value < 10 ? 2 : 0).padStart([15, 17, 15][index]));
    console.log(
      `${`${name} ${unit}`.padEnd(24)}${columns.join("").slice(4)} ${(wire / child).toFixed(2).padStart(19)}`,
    );
  }
  await remote.close();
  await local.close();
  server.disconnect();
}

/** One of our backends. */
function ours(backend) {
  return {
    startToClosed: async () => {
      const child = await backend.start({ argv: ["/bin/true"] });
      await child.closed$.forEach(() => {});
    },
    withCat: async (act) => {
      const child = await backend.start({ argv: ["/bin/cat"], pipeStdin: true });
      let onEcho = () => {};
      child.output$.subscribe(() => onEcho());
      const result = await act(async () => {
        const echo = new Promise((resolve) => {
          onEcho = resolve;
        });
        void child.write("x");
        await echo;
      });
      await child.closeStdin();
      await child.closed$.forEach(() => {});
      return result;
    },
    bulk: async () => {
      const child = await backend.start({ argv: HEAD });
      let bytes = 0;
      for await (const event of child.iterate({ delivery: "lossless" })) {
        if (event.type === "gap") throw new Error("a lossless reader got a gap");
        if (event.type === "output") bytes += event.chunk.length;
      }
      return bytes;
    },
  };
}

/** The comparison: Node's child_process, without a server. */
function plain() {
  return {
    startToClosed: async () => {
      await once(spawnChild("/bin/true", { env: {}, stdio: ["ignore", "pipe", "pipe"] }), "close");
    },
    withCat: async (act) => {
      const child = spawnChild("/bin/cat", { env: {}, stdio: "pipe" });
      const result = await act(async () => {
        const echo = once(child.stdout, "data");
        child.stdin.write("x");
        await echo;
      });
      child.stdin.end();
      await once(child, "close");
      return result;
    },
    bulk: async () => {
      const [file, ...args] = HEAD;
      const child = spawnChild(file, args, { env: {}, stdio: ["ignore", "pipe", "pipe"] });
      let bytes = 0;
      child.stdout.on("data", (chunk) => {
        bytes += chunk.length;
      });
      await once(child, "close");
      return bytes;
    },
  };
}

/** The given quantile, in milliseconds, of consecutive calls. */
async function latency(act, quantile) {
  const times = [];
  const end = performance.now() + SECONDS * 500;
  while (performance.now() < end) {
    const start = performance.now();
    await act();
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length * quantile)];
}

/** Calls per second, several at a time. */
async function rate(act) {
  const start = performance.now();
  let count = 0;
  const worker = async () => {
    for (; performance.now() - start < SECONDS * 1000; count += 1) await act();
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return count / ((performance.now() - start) / 1000);
}

/** Gigabytes per second, the best of two. */
async function bulk({ bulk: act }) {
  let best = 0;
  for (let round = 0; round < 2; round += 1) {
    const start = performance.now();
    const bytes = await act();
    if (bytes !== BULK_BYTES) throw new Error(`${bytes} of ${BULK_BYTES} bytes arrived`);
    best = Math.max(best, bytes / (performance.now() - start) / 1e6);
  }
  return best;
}
