// Limits of JSON: duplicate keys, depth, number of values (section 1.3).
import { outcome } from "../observe.mjs";

/** The answer to `text`, with id 900, or -1 if it is malformed; and whether the connection survives. */
async function answerTo(ctx, text) {
  const peer = await ctx.session();
  peer.sendRaw(text);
  const reply = await peer.waitFor(({ id }) => id === 900 || id === -1);
  return { id: reply.id, answer: outcome(reply), serving: await peer.isServing() };
}

const nested = (depth) =>
  `{"id":900,"method":"process/read","params":{"processId":"none","pad":${"[".repeat(depth)}${"]".repeat(depth)}}}`;
const many = (values) =>
  `{"id":900,"method":"process/read","params":{"processId":"none","pad":[${"1,".repeat(values - 1)}1]}}`;

const UNDERSTOOD = { id: 900, answer: -32600, serving: true };
const MALFORMED = { id: -1, answer: -32600, serving: true };

export const jsonLimits = [
  {
    id: "json-limits/duplicate-key",
    section: "1.3",
    what: "a duplicate key is malformed",
    run: (ctx) =>
      answerTo(ctx, '{"id":900,"method":"process/read","method":"process/read","params":{"processId":"none"}}'),
    expect: MALFORMED,
  },
  {
    id: "json-limits/duplicate-key-inside",
    section: "1.3",
    what: "a duplicate key inside the params is malformed, also in a field that is never used",
    run: (ctx) => answerTo(ctx, '{"id":900,"method":"process/read","params":{"processId":"none","pad":{"a":1,"a":2}}}'),
    expect: MALFORMED,
  },
  {
    id: "json-limits/nesting-127",
    section: "1.3",
    what: "JSON nested 127 deep is accepted",
    run: (ctx) => answerTo(ctx, nested(125)),
    expect: UNDERSTOOD,
  },
  {
    id: "json-limits/nesting-128",
    section: "1.3",
    what: "JSON nested 128 deep is malformed",
    run: (ctx) => answerTo(ctx, nested(126)),
    expect: MALFORMED,
  },
  {
    id: "json-limits/nesting-100000",
    section: "1.3",
    what: "JSON nested 100 000 deep is malformed, and the server survives",
    run: (ctx) => answerTo(ctx, nested(100_000)),
    expect: MALFORMED,
  },
  {
    id: "json-limits/262144-values",
    section: "1.3",
    what: "a message of 262 144 JSON values, containers included, is accepted",
    run: (ctx) => answerTo(ctx, many(262_138)),
    expect: UNDERSTOOD,
  },
  {
    id: "json-limits/262145-values",
    section: "1.3",
    what: "a message of 262 145 JSON values is malformed",
    run: (ctx) => answerTo(ctx, many(262_139)),
    expect: MALFORMED,
  },
];
