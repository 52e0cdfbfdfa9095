// Frames and messages of the WebSocket: kinds, sizes, close codes (section 1.3).
import { eventually, isRunning, outcome } from "../observe.mjs";

const MIB = 1024 * 1024;

/** A read of an unknown process, padded with an unknown field to `bytes` bytes. */
function padded(bytes) {
  const [head, tail] = ['{"id":900,"method":"process/read","params":{"processId":"none","pad":"', '"}}'];
  return head + "x".repeat(bytes - head.length - tail.length) + tail;
}

/** The outcome of a message: the code of its answer, or the close code. */
async function fate(peer, message, send) {
  const reply = peer.exchange(900, message.slice(0, 20), 20_000, { fin: false });
  send();
  return Promise.race([reply.then(outcome), peer.closed.then(({ code }) => `closed ${code}`)]);
}

/** Sends `message` as one frame or, with `pieces`, as fragments. */
async function fateOfSize(ctx, bytes, pieces) {
  const peer = await ctx.session();
  const message = padded(bytes);
  const step = Math.ceil((bytes - 20) / pieces);
  const whole = pieces === 1;
  if (whole) {
    const reply = peer.exchange(900, message);
    return Promise.race([reply.then(outcome), peer.closed.then(({ code }) => `closed ${code}`)]);
  }
  return fate(peer, message, () => {
    for (let at = 20; at < bytes; at += step) {
      peer.sendRaw(message.slice(at, at + step), { fin: at + step >= bytes });
    }
  });
}

export const frames = [
  {
    id: "frames/binary",
    section: "1.3",
    what: "a binary frame is read like a text frame, and answered with a text frame",
    run: async (ctx) => {
      const peer = await ctx.session();
      const reply = await peer.exchange(7, Buffer.from('{"id":7,"method":"environment/status"}'), 5_000, {
        binary: true,
      });
      return { reply, binary: peer.received.some(({ binary }) => binary) };
    },
    expect: { reply: { id: 7, result: { status: "ready" } }, binary: false },
  },
  {
    id: "frames/invalid-utf8",
    section: "1.3",
    what: "invalid UTF-8 in a text frame ends the connection",
    run: async (ctx) => {
      const peer = await ctx.session();
      peer.sendRaw(Buffer.from([0x22, 0xff, 0xfe, 0x22]));
      return peer.closed.then(() => "closed");
    },
    expect: "closed",
  },
  {
    id: "frames/ping",
    section: "1.3",
    what: "a ping is answered with its payload",
    run: async (ctx) => {
      const peer = await ctx.connect();
      const pong = new Promise((resolve) => peer.wire.socket.once("pong", (data) => resolve(data.toString())));
      peer.wire.socket.ping("payload");
      return pong;
    },
    expect: "payload",
  },
  {
    id: "frames/server-pings",
    section: "1.3",
    what: "the server pings within 30 s",
    slow: true,
    run: async (ctx) => {
      const peer = await ctx.session();
      const begin = Date.now();
      await new Promise((resolve) => peer.wire.socket.once("ping", resolve));
      return Date.now() - begin < 32_000;
    },
    expect: true,
  },
  {
    id: "frames/16-mib-frame",
    section: "1.3",
    what: "a frame of exactly 16 MiB is accepted",
    run: (ctx) => fateOfSize(ctx, 16 * MIB, 1),
    expect: -32600,
  },
  {
    id: "frames/17-mib-frame",
    section: "1.3",
    what: "a single frame of more than 16 MiB ends the connection",
    run: (ctx) => fateOfSize(ctx, 17 * MIB, 1),
    expect: "closed 1006",
    better: { expect: -32600, why: "below 64 MiB it does not matter how a message is split into frames" },
  },
  {
    id: "frames/24-mib-fragmented",
    section: "1.3",
    what: "a message of 24 MiB in fragments is accepted",
    run: (ctx) => fateOfSize(ctx, 24 * MIB, 3),
    expect: -32600,
  },
  {
    id: "frames/65-mib-fragmented",
    section: "1.3",
    what: "a message of more than 64 MiB ends the connection",
    run: (ctx) => fateOfSize(ctx, 65 * MIB, 8),
    expect: "closed 1006",
    better: { expect: "closed 1009", why: "the close frame says that the message was too big" },
  },
  {
    id: "frames/large-answer",
    section: "1.3",
    what: "an answer may be larger than the limit for requests: a file of 24 MiB arrives in one message",
    run: async (ctx) => {
      const peer = await ctx.session();
      await ctx.run(peer, { sh: "head -c 25165824 /dev/zero >large", env: { PATH: "/usr/bin:/bin" } });
      const { dataBase64 } = await peer.ask("fs/readFile", { path: ctx.uri("large") });
      return Buffer.from(dataBase64, "base64").length;
    },
    expect: 25_165_824,
  },
  {
    id: "frames/sigterm",
    section: "1.3",
    what: "SIGTERM ends the server with exit code 0 and its children with it",
    run: async (ctx) => {
      const server = await ctx.launch();
      const peer = await ctx.session({ to: server });
      const { processId, ...spec } = ctx.spec({ sh: "echo $$; exec sleep 30", env: { PATH: "/usr/bin:/bin" } });
      await peer.ask("process/start", { processId, ...spec });
      await peer.waitForText(processId, "\n");
      const pid = Number(peer.textOf(processId));
      server.signal("SIGTERM");
      const [exitCode, { code }] = await Promise.all([server.exited, peer.closed]);
      return { exitCode, close: code, childGone: await eventually(async () => !(await isRunning(pid))) };
    },
    expect: { exitCode: 0, close: 1006, childGone: true },
    better: {
      expect: { exitCode: 0, close: 1001, childGone: true },
      why: "the close frame says that the server is going away",
    },
  },
];
