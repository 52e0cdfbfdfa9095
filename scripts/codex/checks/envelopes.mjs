// Envelopes: ids, fields, malformed messages, and messages that end the connection (sections 1.4 and 1.5).
import { outcome, refusal } from "../observe.mjs";

/** Sends the malformed `text`; observes the answer, and whether the connection survives. */
const malformed = (id, what, text) => ({
  id: `envelopes/${id}`,
  section: "1.5",
  what,
  run: async (ctx) => {
    const peer = await ctx.session();
    peer.sendRaw(text);
    const { id: answered, error } = await peer.waitFor((message) => message.id === -1 || message.id === 900);
    const says = error?.message.split(" from ")[0];
    return { id: answered, code: error?.code, says, serving: await peer.isServing() };
  },
  expect: { id: -1, code: -32600, says: "failed to parse websocket JSON-RPC message", serving: true },
});

/** Sends the well-formed `request`; observes the reply and its id. */
const wellFormed = (id, what, request, expect = '"result":{"status":"ready"}') => ({
  id: `envelopes/${id}`,
  section: "1.4",
  what,
  run: async (ctx) => {
    const peer = await ctx.session();
    const seen = peer.received.length;
    peer.sendRaw(request);
    await peer.waitFor(() => peer.received.length > seen);
    const reply = peer.received[seen].text;
    return { status: reply.includes('"result":{"status":"ready"}'), id: /"id":("[^"]*"|[^,}]*)/.exec(reply)[1] };
  },
  expect: { status: true, id: expect },
});

/** Sends `text` after the handshake; observes whether the connection survives. */
const surviving = (id, what, text) => ({
  id: `envelopes/${id}`,
  section: "1.5",
  what,
  run: async (ctx) => {
    const peer = await ctx.session();
    peer.sendRaw(text);
    return { serving: await peer.isServing() };
  },
  expect: { serving: false },
  better: { expect: { serving: true }, why: "a message that needs no answer does not end the connection" },
});

const withoutParams = (id, what, params, expect) => ({
  id: `envelopes/${id}`,
  section: "1.4",
  what,
  run: async (ctx) => refusal(await (await ctx.session()).call("environment/status", params)),
  expect,
});

const NOT_A_UNIT = (found) => ({ code: -32602, message: `invalid type: ${found}, expected unit` });
const READY = { result: { status: "ready" } };

export const envelopes = [
  malformed("bad-json", "a frame that is not JSON is answered with id -1", "{oops"),
  malformed("empty", "an empty frame is malformed", ""),
  malformed("batch", "a batch is malformed", '[{"id":900,"method":"environment/status"}]'),
  malformed("scalar", "a scalar is malformed", "42"),
  malformed(
    "two-objects",
    "two objects in one frame are malformed",
    '{"id":900,"method":"environment/status"}{"id":901}',
  ),
  malformed("id-null", "a null id is malformed", '{"id":null,"method":"environment/status"}'),
  malformed("id-float", "an id with a fraction is malformed", '{"id":900.5,"method":"environment/status"}'),
  malformed("id-bool", "a boolean id is malformed", '{"id":true,"method":"environment/status"}'),
  malformed(
    "id-too-large",
    "an id beyond 64 bits is malformed",
    '{"id":9223372036854775808,"method":"environment/status"}',
  ),
  malformed("no-method", "an id alone is malformed", '{"id":900}'),
  malformed("method-number", "a method that is not a string is malformed", '{"id":900,"method":5}'),
  malformed(
    "trace-type",
    "a trace of the wrong type is malformed",
    '{"id":900,"method":"environment/status","trace":5}',
  ),
  wellFormed("id-string", "a string is an id", '{"id":"seven","method":"environment/status"}', '"seven"'),
  wellFormed("id-empty-string", "an empty string is an id", '{"id":"","method":"environment/status"}', '""'),
  wellFormed("id-negative", "a negative number is an id", '{"id":-7,"method":"environment/status"}', "-7"),
  wellFormed(
    "id-64-bit",
    "an id of 64 bits is returned exactly",
    '{"id":9223372036854775807,"method":"environment/status"}',
    "9223372036854775807",
  ),
  wellFormed(
    "trace",
    "a trace is accepted",
    '{"id":5,"method":"environment/status","trace":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}',
    "5",
  ),
  wellFormed(
    "jsonrpc",
    "a jsonrpc field and unknown fields are ignored",
    '{"jsonrpc":"2.0","id":5,"method":"environment/status","more":[1]}',
    "5",
  ),
  {
    id: "envelopes/no-jsonrpc",
    section: "0",
    what: "no message from the server has a jsonrpc field",
    run: async (ctx) => {
      const peer = await ctx.session();
      await ctx.run(peer, { sh: "echo hi" });
      await peer.call("unknown/method");
      return peer.messages.filter((message) => "jsonrpc" in message).length;
    },
    expect: 0,
  },
  {
    id: "envelopes/unknown-param",
    section: "1.4",
    what: "unknown fields of params are ignored",
    run: async (ctx) => outcome(await (await ctx.session()).call("process/start", { ...ctx.spec(), more: { a: [1] } })),
    expect: "ok",
  },
  withoutParams("unit-absent", "a method without params accepts absent params", undefined, READY),
  withoutParams("unit-null", "a method without params accepts null", null, READY),
  withoutParams("unit-empty", "a method without params accepts {}", {}, READY),
  withoutParams("unit-object", "a method without params refuses an object with fields", { a: 1 }, NOT_A_UNIT("map")),
  withoutParams("unit-array", "a method without params refuses an array", [], NOT_A_UNIT("sequence")),
  withoutParams("unit-number", "a method without params refuses a number", 5, NOT_A_UNIT("number")),
  {
    id: "envelopes/unknown-method",
    section: "1.5",
    what: "an unknown method is -32601, and the message names it",
    run: async (ctx) => refusal(await (await ctx.session()).call("process/dance", {})),
    expect: { code: -32601, message: "exec-server stub does not implement `process/dance` yet" },
  },
  {
    id: "envelopes/no-params",
    section: "1.5",
    what: "missing params and params of the wrong kind are -32602",
    run: async (ctx) => {
      const peer = await ctx.session();
      const answers = [];
      for (const params of [undefined, null, 5, "x", true])
        answers.push(outcome(await peer.call("process/read", params)));
      return answers;
    },
    expect: [-32602, -32602, -32602, -32602, -32602],
  },
  surviving(
    "unknown-notification",
    "an unknown notification ends the connection",
    '{"method":"some/news","params":{}}',
  ),
  surviving(
    "request-as-notification",
    "a request without an id ends the connection",
    '{"method":"environment/status","params":{}}',
  ),
  surviving("unsolicited-response", "an unsolicited response ends the connection", '{"id":77,"result":{}}'),
  surviving(
    "unsolicited-error",
    "an unsolicited error ends the connection",
    '{"id":77,"error":{"code":-1,"message":"no"}}',
  ),
  {
    id: "envelopes/start-as-notification",
    section: "1.5",
    what: "a process/start without an id starts nothing",
    run: async (ctx) => {
      const peer = await ctx.session();
      peer.notify("process/start", ctx.spec({ sh: "touch started" }));
      await peer.isServing();
      const other = await ctx.session();
      return outcome(await other.call("fs/getMetadata", { path: ctx.uri("started") }));
    },
    expect: -32004,
  },
];
