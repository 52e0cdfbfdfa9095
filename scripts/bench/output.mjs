// Benchmarks output of a process to one subscriber, against child_process in the same run. Needs `npm run build`.
import { spawn as spawnChild } from "node:child_process";
import { once } from "node:events";
import { createSupervisor } from "../../dist/lib/index.js";

const BYTES = 1024 ** 3;
const ROUNDS = 3;
const PROGRAMS = {
  "head -c": ["/usr/bin/head", "-c", `${BYTES}`, "/dev/zero"],
  "dd bs=64k": ["/bin/dd", "if=/dev/zero", "bs=64k", `count=${BYTES / 65_536}`, "status=none"],
};

const supervisor = createSupervisor();

async function execwire(argv, tty) {
  const child = await supervisor.start({ argv, env: {}, tty });
  let bytes = 0;
  await child.output$.forEach((event) => {
    bytes += event.type === "gap" ? event.bytes : event.chunk.length;
  });
  return bytes;
}

async function childProcess([file, ...args]) {
  const child = spawnChild(file, args, { env: {}, stdio: ["ignore", "pipe", "inherit"] });
  let bytes = 0;
  child.stdout.on("data", (chunk) => {
    bytes += chunk.length;
  });
  await once(child, "close");
  return bytes;
}

console.log("1 GiB to one subscriber, GB/s, best of 3, alternating");
console.log("program        execwire   child_process   ratio");
for (const [name, argv] of Object.entries(PROGRAMS)) {
  let [own, peer] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    own = Math.max(own, await rate(() => execwire(argv)));
    peer = Math.max(peer, await rate(() => childProcess(argv)));
  }
  console.log(
    `${name.padEnd(12)} ${own.toFixed(2).padStart(10)} ${peer.toFixed(2).padStart(15)} ${(own / peer).toFixed(2).padStart(7)}`,
  );
}
await supervisor.close();

async function rate(run) {
  const start = performance.now();
  const bytes = await run();
  if (bytes !== BYTES) throw new Error(`${bytes} of ${BYTES} bytes arrived`);
  return bytes / (performance.now() - start) / 1e6;
}
