// A server with few descriptors (the caller set a low `ulimit -n`) whose port is crowded with silent peers: reports whether
// starts and a new client succeed. The crowd is in another program, which has descriptors of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "../../../dist/lib/connect.js";
import { createSupervisor } from "../../../dist/lib/local/supervisor.js";
import { serve } from "../../../dist/lib/server/server.js";

const SOCKETS = 230;
const TOKEN = "token";

const supervisor = createSupervisor();
const auth = { kind: "token", token: TOKEN };
const server = await serve(supervisor, { auth, listen: { host: "127.0.0.1", port: 0 } });
const { port } = new URL(server.url);
const owner = await connect(server.url, { token: TOKEN });
const running = [await owner.start({ argv: ["cat"], pipeStdin: true })];

const crowd = spawn(
  process.execPath,
  [
    "-e",
    `const sockets = Array.from({ length: ${SOCKETS} }, () => require("net").connect(${port}, "127.0.0.1").on("error", () => {}));
    Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("connect", resolve).once("close", resolve)))).then(() => console.log("all here"));
    process.stdin.resume().once("end", () => process.exit());`,
  ],
  { stdio: ["pipe", "pipe", "inherit"] },
);
await once(crowd.stdout, "data");

const refusals = [];
for (let count = 0; count < 20; count += 1) {
  try {
    running.push(await owner.start({ argv: ["cat"], pipeStdin: true }));
  } catch (error) {
    refusals.push(`${error.code} ${error.data?.kind}`);
  }
}
const second = await connect(server.url, { token: TOKEN });
const seen = (await second.list()).filter(({ state }) => state === "running").length;
console.log(JSON.stringify({ refusals, seen }));
crowd.stdin.end();
await second.close();
await owner.close({ graceMs: 0 });
await server.close();
await supervisor.close({ graceMs: 0 });
