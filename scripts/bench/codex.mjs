// Benchmarks starts, echoes and bulk of the Codex dialect against the real exec-server. Needs `npm run build` and the native binary.
import { WebSocket } from "ws";
import { findReference, howToGetReference, startServer } from "../codex/servers.mjs";

const SECONDS = Number(process.env.SECONDS ?? 2);
const ROUNDS = Number(process.env.ROUNDS ?? 3);
const BULK_BYTES = 256 * 1024 * 1024;

const MEASURES = [
  {
    name: "start to closed p50",
    unit: "ms",
    goal: "below 0.1",
    measure: (client) => median(() => client.run(["/bin/true"])),
  },
  { name: "write to echo p50", unit: "ms", goal: "below 0.03", measure: echo },
  { name: "starts, 1 at a time", unit: "/s", goal: "above 8", measure: (client) => rate(client, 1) },
  { name: "starts, 8 at a time", unit: "/s", goal: "above 8", measure: (client) => rate(client, 8) },
  { name: "starts, 64 at a time", unit: "/s", goal: "above 8", measure: (client) => rate(client, 64) },
  { name: "bulk", unit: "GB/s", goal: "at least 1", measure: bulk },
];

async function compare() {
  const servers = [await startServer("ours"), await startServer("reference")];
  console.log("                              ours   reference   ours/reference");
  for (const { name, unit, goal, measure } of MEASURES) {
    const ratios = [];
    const last = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, server] of servers.entries()) {
        const client = await Client.connect(server);
        last[index] = await measure(client);
        client.leave();
      }
      ratios.push(last[0] / last[1]);
    }
    ratios.sort((a, b) => a - b);
    const columns = [...last.map(format), format(ratios[ratios.length >> 1])].map((text) => text.padStart(11));
    console.log(`${`${name} ${unit}`.padEnd(23)}${columns.join(" ")}   (${goal})`);
  }
  for (const server of servers) await server.stop();
}

function format(value) {
  return value.toFixed(value < 1 ? 3 : value < 100 ? 1 : 0);
}

/** A minimal client of the dialect. */
class Client {
  #socket;
  #lastId = 0;
  #replies = new Map();
  #closed = new Map();
  #output = new Map();

  static async connect({ url, token }) {
    const client = new Client();
    await client.#open(url, token);
    await client.call("initialize", { clientName: "bench" });
    client.#socket.send('{"method":"initialized","params":{}}');
    return client;
  }

  call(method, params) {
    const id = ++this.#lastId;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => this.#replies.set(id, resolve));
  }

  /** Starts a program; `onOutput` gets each chunk in base64. */
  start(argv, { pipeStdin = false, onOutput } = {}) {
    const processId = `bench-${++this.#lastId}`;
    if (onOutput) this.#output.set(processId, onOutput);
    const closed = new Promise((resolve) => this.#closed.set(processId, resolve));
    const started = this.call("process/start", { processId, argv, cwd: "file:///", env: {}, tty: false, pipeStdin });
    return { processId, started, closed };
  }

  async run(argv, options) {
    await this.start(argv, options).closed;
  }

  leave() {
    this.#socket.terminate();
  }

  async #open(url, token) {
    const headers = { Authorization: `Bearer ${token}` };
    this.#socket = new WebSocket(url, { headers, perMessageDeflate: false, maxPayload: 0 });
    this.#socket.on("message", (data) => this.#receive(JSON.parse(data)));
    await new Promise((resolve, reject) => this.#socket.once("open", resolve).once("error", reject));
  }

  #receive({ id, method, params }) {
    if (method === "process/output") this.#output.get(params.processId)?.(params.chunk);
    else if (method === "process/closed") take(this.#closed, params.processId)?.();
    else if (id !== undefined) take(this.#replies, id)?.();
  }
}

function take(map, key) {
  const value = map.get(key);
  map.delete(key);
  return value;
}

/** Median milliseconds of one call, over SECONDS of consecutive calls. */
async function median(act) {
  const times = [];
  for (const end = performance.now() + SECONDS * 1000; performance.now() < end; ) {
    const start = performance.now();
    await act();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[times.length >> 1];
}

async function echo(client) {
  let onEcho;
  const cat = client.start(["/bin/cat"], { pipeStdin: true, onOutput: () => onEcho() });
  await cat.started;
  let writes = 0;
  const result = await median(async () => {
    const echoed = new Promise((resolve) => {
      onEcho = resolve;
    });
    writes += 1;
    void client.call("process/write", { processId: cat.processId, chunk: "eA==", writeId: String(writes) });
    await echoed;
  });
  void client.call("process/terminate", { processId: cat.processId });
  await cat.closed;
  return result;
}

async function rate(client, parallel) {
  const start = performance.now();
  let count = 0;
  const worker = async () => {
    for (; performance.now() - start < SECONDS * 1000; count += 1) await client.run(["/bin/true"]);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return count / ((performance.now() - start) / 1000);
}

async function bulk(client) {
  let chars = 0;
  const onOutput = (chunk) => {
    chars += chunk.length;
  };
  const start = performance.now();
  await client.run(["/usr/bin/head", "-c", String(BULK_BYTES), "/dev/zero"], { onOutput });
  if (chars < (BULK_BYTES * 4) / 3) throw new Error(`only ${chars} characters of base64 arrived`);
  return BULK_BYTES / (performance.now() - start) / 1e6;
}

if (findReference()) await compare();
else {
  console.error(howToGetReference);
  process.exitCode = 2;
}
