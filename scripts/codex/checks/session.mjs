// The handshake, and what survives a lost connection (section 2).
import { outcome, refusal } from "../observe.mjs";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const FAMILIES = {
  "process/read": { processId: "p" },
  "process/start": { processId: "p", argv: ["/bin/true"], cwd: "file:///", env: {}, tty: false },
  "process/write": { processId: "p", chunk: "aGk=", writeId: "1" },
  "process/signal": { processId: "p", signal: "interrupt" },
  "process/terminate": { processId: "p" },
  "fs/getMetadata": { path: "file:///" },
  "environment/info": undefined,
  "environment/status": undefined,
  "http/request": { method: "GET", url: "http://127.0.0.1:1/", requestId: "r" },
};

async function answersOfFamilies(peer) {
  const answers = {};
  for (const [method, params] of Object.entries(FAMILIES)) {
    answers[method] = refusal(await peer.call(method, params));
  }
  return answers;
}

/** The same refusal for each method, with the name of its family. */
function refusedEverywhere(sentence) {
  const expected = Object.keys(FAMILIES).map((method) => [
    method,
    { code: -32600, message: sentence(familyOf(method)) },
  ]);
  return Object.fromEntries(expected);
}

function familyOf(method) {
  if (method.startsWith("environment/")) return method.replace("/", " ");
  return { fs: "filesystem", http: "http", process: "exec" }[method.split("/")[0]];
}

const initialize = (id, what, params, expect) => ({
  id: `session/${id}`,
  section: "2",
  what,
  run: async (ctx) => outcome(await (await ctx.connect()).call("initialize", params)),
  expect,
});

export const session = [
  {
    id: "session/initialize",
    section: "2",
    what: "initialize returns a version 4 UUID and the environment, nothing else",
    run: async (ctx) => {
      const { sessionId, ...rest } = await (await ctx.connect()).ask("initialize", { clientName: "x" });
      return { isUuid: UUID.test(sessionId), rest: Object.keys(rest), shell: typeof rest.environmentInfo.shell.path };
    },
    expect: { isUuid: true, rest: ["environmentInfo"], shell: "string" },
  },
  initialize("empty-name", "the client name may be empty", { clientName: "" }, "ok"),
  initialize("resume-null", "resumeSessionId may be null", { clientName: "x", resumeSessionId: null }, "ok"),
  initialize("unknown-field", "unknown fields are ignored", { clientName: "x", capabilities: { a: 1 } }, "ok"),
  initialize("no-name", "a missing client name is -32602", {}, -32602),
  initialize("name-null", "a null client name is -32602", { clientName: null }, -32602),
  initialize(
    "resume-number",
    "a resumeSessionId that is not a string is -32602",
    { clientName: "x", resumeSessionId: 5 },
    -32602,
  ),
  {
    id: "session/unknown-session",
    section: "2",
    what: "an unknown session is refused by name, and the connection can try again",
    run: async (ctx) => {
      const peer = await ctx.connect();
      const first = await peer.call("initialize", { clientName: "x", resumeSessionId: "no-such-session" });
      return { first: refusal(first), second: outcome(await peer.call("initialize", { clientName: "x" })) };
    },
    expect: { first: { code: -32600, message: "unknown session id no-such-session" }, second: "ok" },
  },
  {
    id: "session/twice",
    section: "2",
    what: "a second initialize is refused",
    run: async (ctx) => refusal(await (await ctx.session()).call("initialize", { clientName: "x" })),
    expect: { code: -32600, message: "initialize may only be sent once per connection" },
  },
  {
    id: "session/before-initialize",
    section: "2",
    what: "every family of methods is refused before initialize",
    run: async (ctx) => answersOfFamilies(await ctx.connect()),
    expect: refusedEverywhere((family) => `client must call initialize before using ${family} methods`),
  },
  {
    id: "session/before-initialized",
    section: "2",
    what: "every family of methods is refused between initialize and initialized",
    run: async (ctx) => {
      const peer = await ctx.connect();
      await peer.ask("initialize", { clientName: "x" });
      return answersOfFamilies(peer);
    },
    expect: refusedEverywhere((family) => `client must send initialized before using ${family} methods`),
  },
  {
    id: "session/pipelined",
    section: "2",
    what: "initialize, initialized and a request may be sent at once",
    run: async (ctx) => {
      const peer = await ctx.connect();
      const first = peer.call("initialize", { clientName: "x" });
      peer.notify("initialized", {});
      const second = peer.call("environment/status");
      return [outcome(await first), outcome(await second)];
    },
    expect: ["ok", "ok"],
  },
  {
    id: "session/initialized-twice",
    section: "2",
    what: "a repeated initialized is harmless",
    run: async (ctx) => {
      const peer = await ctx.session();
      peer.notify("initialized", {});
      peer.notify("initialized");
      return peer.isServing();
    },
    expect: true,
  },
  {
    id: "session/initialized-first",
    section: "1.5",
    what: "initialized before initialize ends the connection",
    run: async (ctx) => {
      const peer = await ctx.connect();
      peer.notify("initialized", {});
      return { serving: await peer.isServing() };
    },
    expect: { serving: false },
    better: { expect: { serving: true }, why: "a misplaced notification does not end the connection" },
  },
  {
    id: "session/order-of-refusals",
    section: "2",
    what: "before initialize an unknown method is still unknown, and bad params are still bad",
    run: async (ctx) => {
      const peer = await ctx.connect();
      return [outcome(await peer.call("no/such", {})), outcome(await peer.call("process/read", {}))];
    },
    expect: [-32601, -32602],
  },
  {
    id: "session/isolation",
    section: "2",
    what: "two sessions can use the same process id without seeing each other",
    run: async (ctx) => {
      const [one, two] = [await ctx.session(), await ctx.session()];
      const spec = (word) => ctx.spec({ processId: "same", sh: `echo ${word}` });
      const starts = [outcome(await one.call("process/start", spec("one")))];
      starts.push(outcome(await two.call("process/start", spec("two"))));
      const [first, second] = [await one.ended("same"), await two.ended("same")];
      await ctx.start(one, { processId: "mine", sh: "exec sleep 30", env: { PATH: "/bin" } });
      const foreign = await two.call("process/read", { processId: "mine" });
      return { starts, first: first.stdout, second: second.stdout, foreign: outcome(foreign) };
    },
    expect: { starts: ["ok", "ok"], first: "one\n", second: "two\n", foreign: -32600 },
  },
  {
    id: "session/attached",
    section: "2",
    what: "a session in use cannot be resumed by a second connection, and the first one is not affected",
    run: async (ctx) => {
      const peer = await ctx.session();
      const other = await ctx.connect();
      const params = { clientName: "x", resumeSessionId: peer.sessionId };
      const answer = refusal(await other.call("initialize", params), { [peer.sessionId]: "SESSION" });
      return {
        answer,
        serving: await peer.isServing(),
        retry: outcome(await other.call("initialize", { clientName: "x" })),
      };
    },
    expect: {
      answer: { code: -32010, message: "session SESSION is already attached to another connection" },
      serving: true,
      retry: "ok",
    },
  },
];
