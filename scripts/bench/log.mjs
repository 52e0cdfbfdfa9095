// Benchmarks appends of 64 B chunks to a log with one reader: time and heap, against a plain array ring and rxjs.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ReplaySubject } from "rxjs";
import { Cursor } from "../../dist/lib/log/cursor.js";
import { ReplayLog } from "../../dist/lib/log/replay-log.js";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");

const EVENTS = 50_000;
const CHUNK_BYTES = 64;
const ROUND_MS = 700;
const ROUNDS = 3;
/** Only the count bounds the log, so that all contenders retain the same events. */
const SAME_BOUNDS = { retainedEvents: EVENTS, retainedBytes: 1024 * 1024 * 1024 };

const chunk = new Uint8Array(CHUNK_BYTES);

/** A log with a cursor that reads each event when it is appended. */
function makeLog(options, followers = 1) {
  const log = new ReplayLog(options);
  const state = { read: 0 };
  for (let follower = 0; follower < followers; follower += 1) {
    const cursor = new Cursor(log);
    log.onAppend(() => {
      for (let event = cursor.next(); event !== undefined; event = cursor.next()) state.read += event.seq & 1;
    });
  }
  return { append: (bytes) => log.appendOutput("stdout", bytes), held: log, state };
}

/** The minimum: an array, a mask and a reader's index. No byte bound, no gaps, no freezing. */
function makeRing() {
  const mask = 65_535;
  const ring = new Array(mask + 1);
  const state = { read: 0 };
  let head = 0;
  let position = 0;
  const append = (bytes) => {
    head += 1;
    ring[head & mask] = { type: "output", seq: head, stream: "stdout", chunk: bytes };
    if (head > EVENTS) ring[(head - EVENTS) & mask] = undefined;
    while (position < head) {
      position += 1;
      state.read += ring[position & mask].seq & 1;
    }
  };
  return { append, held: ring, state };
}

function makeReplaySubject() {
  const subject = new ReplaySubject(EVENTS);
  const state = { read: 0 };
  let seq = 0;
  subject.subscribe((event) => {
    state.read += event.seq & 1;
  });
  const append = (bytes) => {
    seq += 1;
    subject.next({ type: "output", seq, stream: "stdout", chunk: bytes });
  };
  return { append, held: subject, state };
}

/** Nanoseconds per append once the log is full: the best of several rounds, since the machine runs other programs too. */
function time(make) {
  const { append } = make();
  for (let warm = 0; warm < EVENTS * 2; warm += 1) append(chunk);
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = process.hrtime.bigint();
    let count = 0;
    let elapsed = 0;
    while (elapsed < ROUND_MS * 1e6) {
      for (let append1000 = 0; append1000 < 1000; append1000 += 1) append(chunk);
      count += 1000;
      elapsed = Number(process.hrtime.bigint() - start);
    }
    best = Math.min(best, elapsed / count);
  }
  return best;
}

/** Bytes of heap and array buffers per retained event, including its 64 B chunk. */
function weigh(make) {
  const used = () => {
    gc();
    gc();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = used();
  const made = make();
  for (let event = 0; event < EVENTS; event += 1) made.append(new Uint8Array(CHUNK_BYTES));
  const bytes = (used() - before) / EVENTS;
  // Keeps the log alive until here.
  return made.held ? bytes : 0;
}

const contenders = {
  "replay log": () => makeLog(SAME_BOUNDS),
  "replay log, default bounds": () => makeLog({}),
  "replay log, no reader": () => makeLog(SAME_BOUNDS, 0),
  "replay log, 10 readers": () => makeLog(SAME_BOUNDS, 10),
  "plain array ring": makeRing,
  "rxjs ReplaySubject": makeReplaySubject,
};

const results = Object.entries(contenders).map(([name, make]) => ({ name, ns: time(make), bytes: weigh(make) }));
const base = results[0];
console.log(`${EVENTS} events of ${CHUNK_BYTES} B retained, one reader following; node ${process.version}`);
console.log("                              M appends/s  ns/append   time ratio   B/event");
for (const { name, ns, bytes } of results) {
  const columns = [
    (1e3 / ns).toFixed(2).padStart(11),
    ns.toFixed(0).padStart(9),
    (ns / base.ns).toFixed(2).padStart(11),
  ];
  console.log(`${name.padEnd(28)}  ${columns.join("  ")}  ${bytes.toFixed(0).padStart(8)}`);
}
