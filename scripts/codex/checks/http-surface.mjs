// The port's answers to plain HTTP and to upgrades (section 1.2). Upgrades are sent as raw requests, to see the answer itself.

const UPGRADE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/** The headers of a valid upgrade to the target. */
export const upgradeTo = (target) => ({ ...UPGRADE, authorization: `Bearer ${target.token}` });

/** An upgrade without a token. */
export const anonymousUpgrade = UPGRADE;

const page = (id, what, method, path, expect) => ({
  id: `http-surface/${id}`,
  section: "1.2",
  what,
  run: async (ctx) => pick(await ctx.http(method, path)),
  expect,
});

const upgrade = (id, what, path, headers, expect) => ({
  id: `http-surface/${id}`,
  section: "1.2",
  what,
  run: async (ctx) => pick(await ctx.http("GET", path, { ...upgradeTo(ctx.target), ...headers })),
  expect,
});

function pick({ status, body }) {
  return { status, body };
}

const REFUSED_ORIGIN = { status: 403, body: "" };
const NOT_FOUND = { status: 404, body: "" };

export const httpSurface = [
  upgrade("upgrade", "an upgrade of / is answered with 101", "/", {}, { status: 101, body: "" }),
  upgrade("query", "an upgrade ignores the query string", "/?a=b", {}, { status: 101, body: "" }),
  {
    id: "http-surface/negotiates-nothing",
    section: "1.2",
    what: "subprotocols and permessage-deflate offered by a client are ignored",
    run: async (ctx) => {
      const offer = { "sec-websocket-protocol": "a, b", "sec-websocket-extensions": "permessage-deflate" };
      const { status, headers } = await ctx.http("GET", "/", { ...upgradeTo(ctx.target), ...offer });
      return {
        status,
        protocol: headers["sec-websocket-protocol"] ?? null,
        extensions: headers["sec-websocket-extensions"] ?? null,
      };
    },
    expect: { status: 101, protocol: null, extensions: null },
  },
  page("get-without-upgrade", "GET / without an upgrade is 400, before the token is checked", "GET", "/", {
    status: 400,
    body: "Connection header did not include 'upgrade'",
  }),
  page("post", "POST / is 405", "POST", "/", { status: 405, body: "Request method must be `GET`" }),
  page("readyz", "GET /readyz without a token is 200 and empty", "GET", "/readyz", { status: 200, body: "" }),
  page("readyz-query", "GET /readyz with a query is 200", "GET", "/readyz?verbose", { status: 200, body: "" }),
  page("readyz-post", "POST /readyz is 405", "POST", "/readyz", { status: 405, body: "" }),
  page("healthz", "GET /healthz is 404", "GET", "/healthz", NOT_FOUND),
  page("elsewhere", "any other path is 404", "GET", "/readyz/", NOT_FOUND),
  upgrade("upgrade-elsewhere", "an upgrade of another path is 404", "/exec", {}, NOT_FOUND),
  upgrade("origin", "an upgrade with an Origin is 403", "/", { origin: "http://example.test" }, REFUSED_ORIGIN),
  upgrade("origin-null", "an upgrade with the Origin null is 403", "/", { origin: "null" }, REFUSED_ORIGIN),
  upgrade(
    "origin-localhost",
    "an upgrade with the Origin localhost is 403",
    "/",
    { origin: "http://localhost" },
    REFUSED_ORIGIN,
  ),
  {
    id: "http-surface/origin-first",
    section: "1.2",
    what: "an Origin is refused before path, method and token are checked",
    run: async (ctx) => {
      const statuses = {};
      for (const [method, path] of [
        ["GET", "/"],
        ["GET", "/readyz"],
        ["GET", "/none"],
        ["POST", "/"],
      ]) {
        const { status } = await ctx.http(method, path, { origin: "http://example.test" });
        statuses[`${method} ${path}`] = status;
      }
      return statuses;
    },
    expect: { "GET /": 403, "GET /readyz": 403, "GET /none": 403, "POST /": 403 },
  },
];
