// Authentication: only the token in the Authorization header of the upgrade counts (section 9).
import { anonymousUpgrade } from "./http-surface.mjs";

const attempt = (id, what, authorization, expect, path = () => "/") => ({
  id: `auth/${id}`,
  section: "9",
  what,
  run: async (ctx) => {
    const header = authorization(ctx.target.token);
    const headers = { ...anonymousUpgrade, ...(header !== undefined && { authorization: header }) };
    const { status, body } = await ctx.http("GET", path(ctx.target.token), headers);
    return { status, body };
  },
  expect,
});

const MISSING = { status: 401, body: "missing websocket bearer token" };
const MALFORMED = { status: 401, body: "invalid authorization header" };
const WRONG = { status: 401, body: "invalid websocket bearer token" };
const WELCOME = { status: 101, body: "" };
const none = () => undefined;

export const auth = [
  attempt("missing", "a missing token is 401 with a message", none, MISSING),
  attempt("wrong", "a wrong token is 401 with a message", (token) => `Bearer ${token}x`, WRONG),
  attempt("prefix", "the beginning of the token is not enough", (token) => `Bearer ${token.slice(0, -1)}`, WRONG),
  attempt("two-words", "text after the token makes it wrong", (token) => `Bearer ${token} x`, WRONG),
  attempt("basic", "another scheme is an invalid header", (token) => `Basic ${token}`, MALFORMED),
  attempt("no-scheme", "a token without a scheme is an invalid header", (token) => token, MALFORMED),
  attempt("empty", "a scheme without a token is an invalid header", () => "Bearer ", MALFORMED),
  attempt("case", "the scheme may be written in any case", (token) => `bEARER ${token}`, WELCOME),
  attempt("blanks", "blanks around the token are tolerated", (token) => `Bearer   ${token}  `, WELCOME),
  attempt("query", "a token in the query is ignored", none, MISSING, (token) => `/?token=${token}`),
  {
    id: "auth/subprotocol",
    section: "9",
    what: "a token as subprotocol is ignored",
    run: async (ctx) => {
      const offer = { "sec-websocket-protocol": ctx.target.token };
      const { status, body } = await ctx.http("GET", "/", { ...anonymousUpgrade, ...offer });
      return { status, body };
    },
    expect: MISSING,
  },
  {
    id: "auth/plain-text",
    section: "9",
    what: "a refusal is plain text",
    run: async (ctx) => {
      const { headers } = await ctx.http("GET", "/", anonymousUpgrade);
      return headers["content-type"].split(";")[0];
    },
    expect: "text/plain",
  },
];
