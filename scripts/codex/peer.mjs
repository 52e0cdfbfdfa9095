// A small test client of the Codex dialect. It keeps every message in the order of arrival, can send anything, and judges
// nothing. It knows requests, replies and process events.
import { openStdio, openWebSocket } from "./wires.mjs";

const DEADLINE_MS = 20_000;

/** Connects over a WebSocket. */
export async function connectPeer(url, options) {
  return new Peer(await openWebSocket(url, options));
}

/** Starts a command and connects to its stdin and stdout. */
export async function spawnPeer(command, options) {
  return new Peer(await openStdio(command, options));
}

/** Rejects with an error that names `what` when `promise` takes longer than `ms`. */
export function within(ms, what, promise) {
  let timer;
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no ${what} within ${ms} ms`)), ms);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

export class Peer {
  /** All messages received: `{ text, binary, message }`. */
  received = [];
  #nextId = 1;
  #replies = new Map();
  #waiting = new Set();
  #isClosed = false;

  constructor(wire) {
    this.wire = wire;
    this.closed = wire.closed.then((end) => {
      this.#isClosed = true;
      const error = new Error(`the connection closed (${end.code})`);
      for (const { reject } of [...this.#replies.values(), ...this.#waiting]) reject(error);
      return end;
    });
    wire.onMessage = (text, binary) => this.#receive(text, binary);
  }

  /** All messages received, parsed. */
  get messages() {
    return this.received.map(({ message }) => message);
  }

  /** Sends text (or bytes, with `{ binary: true }`) unchanged. */
  sendRaw(data, options) {
    this.wire.send(data, options);
  }

  notify(method, params) {
    this.sendRaw(JSON.stringify({ method, params }));
  }

  /** Sends a request and returns the whole reply: `{ id, result }` or `{ id, error }`. */
  call(method, params, deadlineMs) {
    const id = this.#nextId++;
    return this.exchange(id, JSON.stringify({ id, method, params }), deadlineMs);
  }

  /** Sends `data` and returns the reply with the id `id`. */
  exchange(id, data, deadlineMs = DEADLINE_MS, options = {}) {
    const reply = new Promise((resolve, reject) => {
      if (this.#isClosed) reject(new Error("the connection is closed"));
      this.#replies.set(id, { resolve, reject });
    });
    this.sendRaw(data, options);
    const answer = within(deadlineMs, `reply to ${String(data.slice(0, 80))}`, reply);
    answer.catch(() => {});
    return answer;
  }

  /** Sends a request and returns its result; throws if it is refused. */
  async ask(method, params) {
    const { result, error } = await this.call(method, params);
    if (error) throw Object.assign(new Error(`${method}: ${error.code} ${error.message}`), { code: error.code });
    return result;
  }

  /** The first message that matches, already received or not. */
  waitFor(matches, deadlineMs = DEADLINE_MS, what = "message") {
    const past = this.messages.find(matches);
    if (past) return Promise.resolve(past);
    const future = new Promise((resolve, reject) => this.#waiting.add({ matches, resolve, reject }));
    return within(deadlineMs, what, future);
  }

  waitForPush(method, processId, deadlineMs) {
    const matches = (message) => message.method === method && message.params.processId === processId;
    return this.waitFor(matches, deadlineMs, `${method} of ${processId}`);
  }

  /** Waits until the process has printed `text` on any stream. */
  waitForText(processId, text) {
    return this.waitFor(() => this.textOf(processId).includes(text), DEADLINE_MS, `"${text}" of ${processId}`);
  }

  /** Does the handshake; returns the result of `initialize`. */
  async openSession(params = {}) {
    const result = await this.ask("initialize", { clientName: "checks", ...params });
    this.notify("initialized", {});
    this.sessionId = result.sessionId;
    return result;
  }

  /** The pushed events of a process, sorted by seq. */
  eventsOf(processId) {
    const events = this.messages.filter((it) => it.method?.startsWith("process/") && it.params.processId === processId);
    return events.sort((a, b) => a.params.seq - b.params.seq);
  }

  /** The output of a process so far, as bytes; of one stream or of all. */
  bytesOf(processId, stream) {
    const outputs = this.eventsOf(processId).filter(({ method }) => method === "process/output");
    const wanted = outputs.filter(({ params }) => stream === undefined || params.stream === stream);
    return Buffer.concat(wanted.map(({ params }) => Buffer.from(params.chunk, "base64")));
  }

  textOf(processId, stream) {
    return this.bytesOf(processId, stream).toString();
  }

  /** Waits for the end of a process and returns its exit code and output. */
  async ended(processId, deadlineMs) {
    await this.waitForPush("process/closed", processId, deadlineMs);
    // Events may arrive out of order: closed has the last seq, but is not always the last message.
    const { params: closed } = this.eventsOf(processId).at(-1);
    await this.waitFor(() => this.eventsOf(processId).length >= closed.seq, deadlineMs, `${closed.seq} events`);
    const exited = this.eventsOf(processId).find(({ method }) => method === "process/exited");
    return {
      exitCode: exited.params.exitCode,
      stdout: this.textOf(processId, "stdout"),
      stderr: this.textOf(processId, "stderr"),
      pty: this.textOf(processId, "pty"),
    };
  }

  /** Whether the connection still serves requests. */
  async isServing() {
    try {
      const { error, result } = await this.call("environment/status");
      return error !== undefined || result !== undefined;
    } catch {
      return false;
    }
  }

  #receive(text, binary) {
    const message = parse(text);
    this.received.push({ text, binary, message });
    if (message.method === undefined) {
      this.#replies.get(message.id)?.resolve(message);
      this.#replies.delete(message.id);
    }
    for (const waiter of this.#waiting) {
      if (!waiter.matches(message)) continue;
      this.#waiting.delete(waiter);
      waiter.resolve(message);
    }
  }
}

/** A message that is not JSON is kept too: no check waits for it, but it shows up when a check fails. */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { method: "not JSON", params: { text } };
  }
}
