// Networks of processes of the Codex protocol: the client that started a process decides about its connections.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { makeWebServer } from "../network/web-server.ts";
import { describeSandbox } from "../sandbox/sandbox-host.ts";
import { CodexHost } from "../support/codex-host.ts";
import { type CodexPeer, type CodexPush, startParams } from "../support/codex-peer.ts";

/** A request that the server sends, or a decision that it reports. */
type Sent = CodexPush & { readonly id?: number; readonly params: Readonly<Record<string, unknown>> };

const PROXY = {
  enabled: true,
  enableSocks5: true,
  enableSocks5Udp: true,
  allowUpstreamProxy: false,
  dangerouslyAllowAllUnixSockets: false,
  mode: "full",
  domains: { "127.0.0.2": "allow", "**.denied.test": "deny", "other.test": "none" },
  unixSockets: null,
  allowLocalBinding: false,
};
const CURL = "curl -s -o /dev/null -w '%{http_code} '";

const web = makeWebServer();
let host: CodexHost;
let peer: CodexPeer;
beforeEach(async () => {
  host = await CodexHost.open();
  peer = await host.connect();
});
afterEach(() => host.close());

const sent = (method: string, from: CodexPeer = peer) =>
  from.received.filter((message) => (message as Sent).method === `network/${method}`) as unknown as readonly Sent[];
const nth = (method: string, count: number, from: CodexPeer = peer) => from.until(() => sent(method, from)[count - 1]);
const start = (id: string, script: string, more: object) =>
  peer.call(
    "process/start",
    startParams(id, script, { env: { PATH: "/usr/bin:/bin", PORT: String(web.port) }, ...more }),
  );
const reasons = () =>
  sent("policyDecision").map(({ params }) => `${params.decision} ${params.source} ${params.reason}`);

describe("a network proxy", () => {
  it("judges by the domains of the request, and each decision is reported", async () => {
    const script = `echo $CODEX_NETWORK_PROXY_ACTIVE; for url in 127.0.0.2:$PORT a.denied.test other.test; do ${CURL} http://$url/; done
      ${CURL} https://8.8.8.8/`;
    expect((await start("p", script, { networkProxy: { proxy: PROXY } })).result).toEqual({
      processId: "p",
      sandboxType: "none",
    });
    await peer.closed("p");
    expect(peer.textOf("p")).toBe("1\n200 403 403 000 ");
    expect(reasons()).toEqual([
      "allow baseline_policy allowed",
      "deny baseline_policy denied",
      "deny baseline_policy not_allowed",
      "deny baseline_policy not_allowed",
    ]);
    expect(sent("policyDecision")[3]).toEqual({
      method: "network/policyDecision",
      params: {
        processId: "p",
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        scope: "domain",
        decision: "deny",
        source: "baseline_policy",
        reason: "not_allowed",
        protocol: "https_connect",
        host: "8.8.8.8",
        port: 443,
        method: "CONNECT",
        policyOverride: false,
      },
    });
    expect(sent("policyRequest")).toEqual([]);
  });

  it("asks the client about other hosts, and takes anything but a permission for a refusal", async () => {
    const answers = [
      { result: { decision: { type: "allow" } } },
      { result: { decision: { type: "ask", reason: "needs a person" } } },
      { result: { decision: "allow" } },
      { error: { code: -32601, message: "unknown method" } },
    ];
    const networkProxy = {
      proxy: { ...PROXY, domains: null, allowLocalBinding: true },
      policyDecisionTimeoutMs: 30_000,
    };
    const script = `for i in 2 3 4 5; do ${CURL} http://127.0.0.$i:$PORT/; done`;
    await start("p", script, { networkProxy });
    for (const [index, answer] of answers.entries()) {
      const request = await nth("policyRequest", index + 1);
      expect(request).toEqual({
        id: index + 1,
        method: "network/policyRequest",
        params: { processId: "p", request: { protocol: "http", host: `127.0.0.${index + 2}`, port: web.port } },
      });
      peer.send({ id: request.id, ...answer });
    }
    await peer.closed("p");
    expect(peer.textOf("p")).toBe("200 403 403 403 ");
    expect(reasons()).toEqual([
      "allow decider allowed",
      "deny decider needs a person",
      "deny decider not_allowed",
      "deny decider not_allowed",
    ]);
    expect(sent("policyDecision").map(({ params }) => params.policyOverride)).toEqual([true, false, false, false]);
  });

  it("is refused what the client has not answered when its connection is lost, and asked again on the next", async () => {
    const networkProxy = { proxy: { ...PROXY, allowLocalBinding: true }, policyDecisionTimeoutMs: 30_000 };
    const script = `${CURL} http://127.0.0.3:$PORT/; read line; ${CURL} http://127.0.0.3:$PORT/`;
    await start("p", script, { networkProxy, pipeStdin: true });
    await nth("policyRequest", 1);
    await peer.cut();
    const next = await host.resume(peer.sessionId);
    for (let text = ""; text !== "403 "; ) {
      const { chunks } = await next.read("p", 0, { waitMs: 1000 });
      text = chunks.map(({ chunk }) => Buffer.from(chunk, "base64").toString()).join("");
    }
    await next.call("process/write", { processId: "p", chunk: "Cg==", writeId: "1" });
    next.send({ id: (await nth("policyRequest", 1, next)).id, result: { decision: { type: "allow" } } });
    await next.closed("p");
    expect(next.textOf("p")).toMatch(/200 $/);
  });

  it("permits nothing more once the process is terminated, also after its exit", async () => {
    const networkProxy = { proxy: PROXY, policyDecisionTimeoutMs: 30_000 };
    await start("p", `(${CURL} http://asked.test/; ${CURL} http://asked.test/) &`, { networkProxy });
    await nth("policyRequest", 1);
    await peer.until(() => peer.pushesOf("p").some(({ method }) => method === "process/exited") || undefined);
    expect((await peer.call("process/terminate", { processId: "p" })).result).toEqual({ running: false });
    await peer.closed("p");
    expect(peer.textOf("p")).toBe("403 403 ");
    expect(sent("policyRequest")).toHaveLength(1);
  });

  it("for reading only refuses tunnels and other methods", async () => {
    const networkProxy = { proxy: { ...PROXY, mode: "limited" } };
    await start("p", `${CURL} http://127.0.0.2:$PORT/; ${CURL} -d x http://127.0.0.2:$PORT/`, { networkProxy });
    await peer.closed("p");
    expect(peer.textOf("p")).toBe("200 403 ");
  });

  it.each([
    ["without time to decide", "p", { proxy: PROXY, policyDecisionTimeoutMs: 0 }, "callback timeout must be nonzero"],
    ["with an empty id", "", { proxy: PROXY, policyDecisionTimeoutMs: 1 }, "must be non-empty and at most 256 bytes"],
    ["with a long id", "p".repeat(257), { proxy: PROXY, policyDecisionTimeoutMs: 1 }, "at most 256 bytes"],
    ["that is not enabled", "p", { proxy: { ...PROXY, enabled: false } }, "requires an enabled proxy"],
    ["with an unknown permission", "p", { proxy: { ...PROXY, domains: { a: "maybe" } } }, "unknown variant"],
    ["with a pattern that is none", "p", { proxy: { ...PROXY, domains: { "a/b": "allow" } } }, "must be a host"],
  ])("%s is refused", async (_name, id, networkProxy, message) => {
    const { error } = await start(id, "true", { argv: [], networkProxy });
    expect(error).toMatchObject({ code: -32602 });
    if (message !== "must be a host") expect(error?.message).toContain(message);
  });
});

describeSandbox("a network proxy of a process in a sandbox", () => {
  const READ_ONLY = {
    permissions: {
      type: "managed",
      file_system: {
        type: "restricted",
        entries: [{ path: { type: "special", value: { kind: "root" } }, access: "read" }],
      },
      network: "restricted",
    },
    windowsSandboxLevel: "disabled",
  };

  it.each([
    ["of the client", { sandbox: READ_ONLY }],
    ["that an enforced network needs", { enforceManagedNetwork: true }],
  ])("is the only way out of the sandbox %s", async (_name, more) => {
    const script = `${CURL} http://127.0.0.2:$PORT/; ${CURL} --noproxy '*' http://127.0.0.2:$PORT/`;
    const { result } = await start("p", script, { networkProxy: { proxy: PROXY }, ...more });
    expect(result).toEqual({ processId: "p", sandboxType: "linuxSeccomp" });
    await peer.closed("p");
    expect(peer.textOf("p")).toBe("200 000 ");
  });
});
