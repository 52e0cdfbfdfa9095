// Decisions about connections: the order of the rules, the controller's part, and what is reported.
import { describe, expect, it } from "@jest/globals";
import { Judge, type JudgeOptions, type Verdict } from "../../../lib/network/judge.ts";
import type { ManagedNetwork, NetworkDecision } from "../../../protocol/index.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { nextTurn } from "../../support/next-turn.ts";

const NEVER = new AbortController().signal;

function makeJudge(policy: Omit<ManagedNetwork, "mode">, options: Partial<JudgeOptions> = {}) {
  const clock = new FakeClock();
  const decisions: NetworkDecision[] = [];
  const resolved: string[] = [];
  const judge = new Judge({
    processId: "p",
    policy: { mode: "managed", ...policy },
    clock,
    limits: { networkDecisions: 2, networkDecisionMs: 1000 },
    onNetworkDecision: (decision) => decisions.push(decision),
    resolve: async (name) => {
      resolved.push(name);
      return ADDRESSES[name] ?? Promise.reject(new Error("unknown"));
    },
    ...options,
  });
  const ask = (host: string, signal = NEVER, port = 80): Promise<Verdict> =>
    judge.judge({ protocol: "connect", host, port }, signal);
  const reason = async (host: string) => {
    const verdict = await ask(host);
    return verdict.isAllowed ? verdict.addresses.join() : verdict.reason;
  };
  return { judge, clock, decisions, resolved, ask, reason };
}

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  "public.test": ["8.8.8.8"],
  "rebind.test": ["127.0.0.1", "::1"],
  "mixed.test": ["10.0.0.1", "8.8.4.4"],
  localhost: ["127.0.0.1"],
};

describe("the lists", () => {
  it("refuse what is denied, also where it is allowed too", async () => {
    const { reason } = makeJudge({ allow: ["*"], deny: ["**.public.test"] });
    expect(await reason("public.test")).toBe("denied");
    expect(await reason("x.PUBLIC.test.")).toBe("denied");
    expect(await reason("unknown.test")).toBe("no_address");
  });

  it("refuse other hosts without a query to a name server", async () => {
    const { reason, resolved } = makeJudge({ allow: ["public.test"] });
    expect(await reason("secret.rebind.test")).toBe("not_allowed");
    expect(resolved).toEqual([]);
    expect(await reason("public.test")).toBe("8.8.8.8");
    expect(resolved).toEqual(["public.test"]);
  });

  it.each([
    "127.0.0.1",
    "127.1",
    "2130706433",
    "::1",
    "::ffff:127.0.0.1",
    "localhost.",
    "x.localhost",
    "169.254.169.254",
  ])("do not open local hosts with a star: %s", async (host) => {
    expect(await makeJudge({ allow: ["*"] }).reason(host)).toBe("not_allowed_local");
  });

  it("open a local host that they name, and no name that resolves to it", async () => {
    const { reason } = makeJudge({ allow: ["127.0.0.1", "localhost", "rebind.test", "mixed.test"] });
    expect(await reason("127.1")).toBe("127.0.0.1");
    expect(await reason("localhost")).toBe("127.0.0.1");
    expect(await reason("rebind.test")).toBe("not_allowed_local");
    expect(await reason("mixed.test")).toBe("8.8.4.4");
  });

  it("open local hosts with allowLocal", async () => {
    expect(await makeJudge({ allow: ["rebind.test"], allowLocal: true }).reason("rebind.test")).toBe("127.0.0.1,::1");
  });

  it.each([
    ["a b", 80],
    ["public.test", 0],
    ["public.test", 65_536],
  ])("refuse what is no host or port: %p %p", async (host, port) => {
    const verdict = await makeJudge({ allow: ["*"] }).ask(host, NEVER, port);
    expect(verdict).toMatchObject({ isAllowed: false, reason: "not_a_host" });
  });
});

describe("a network for reading only", () => {
  it("permits the methods that change nothing, of plain HTTP", async () => {
    const { judge } = makeJudge({ allow: ["*"], onlyReading: true });
    const allowed: string[] = [];
    for (const protocol of ["http", "connect", "socks5"] as const) {
      for (const method of ["GET", "HEAD", "OPTIONS", "POST", "CONNECT"]) {
        const { isAllowed } = await judge.judge({ protocol, host: "public.test", port: 80, method }, NEVER);
        if (isAllowed) allowed.push(`${protocol} ${method}`);
      }
    }
    expect(allowed).toEqual(["http GET", "http HEAD", "http OPTIONS"]);
  });
});

describe("the controller", () => {
  it("decides about hosts in no list only, and cannot open a local one", async () => {
    const asked: string[] = [];
    const onNetworkRequest = ({ host }: { host: string }) => {
      asked.push(host);
      return "allow" as const;
    };
    const { reason } = makeJudge({ allow: ["mixed.test"], deny: ["denied.test"] }, { onNetworkRequest });
    expect(await reason("mixed.test")).toBe("8.8.4.4");
    expect(await reason("denied.test")).toBe("denied");
    expect(await reason("10.0.0.1")).toBe("not_allowed_local");
    expect(await reason("rebind.test")).toBe("not_allowed_local");
    expect(await reason("public.test")).toBe("8.8.8.8");
    expect(asked).toEqual(["rebind.test", "public.test"]);
  });

  it.each([
    ["deny", "not_allowed"],
    [{ deny: "operator" }, "operator"],
    [undefined, "not_allowed"],
    [true, "not_allowed"],
    [{ allow: true }, "not_allowed"],
  ])("permits by `allow` only: %p", async (answer, expected) => {
    const { reason, decisions } = makeJudge({}, { onNetworkRequest: () => answer as never });
    expect(await reason("public.test")).toBe(expected);
    expect(decisions).toEqual([
      {
        processId: "p",
        protocol: "connect",
        host: "public.test",
        port: 80,
        time: 0,
        decision: "deny",
        source: "controller",
        reason: expected,
      },
    ]);
  });

  it("that fails refuses", async () => {
    const onNetworkRequest = () => Promise.reject(new Error("failed"));
    expect(await makeJudge({}, { onNetworkRequest }).reason("public.test")).toBe("decision_failed");
  });

  it("that does not answer in time refuses, and learns that its answer no longer matters", async () => {
    const signals: AbortSignal[] = [];
    const onNetworkRequest = (_: unknown, signal: AbortSignal) => {
      signals.push(signal);
      return new Promise<never>(() => undefined);
    };
    const { ask, reason, clock, judge } = makeJudge({ decisionTimeoutMs: 10 }, { onNetworkRequest });
    const late = reason("public.test");
    clock.advance(10);
    expect(await late).toBe("decision_timeout");
    const closing = new AbortController();
    const closed = ask("public.test", closing.signal);
    closing.abort();
    expect(await closed).toMatchObject({ reason: "connection_closed" });
    const pending = [reason("public.test"), reason("public.test"), reason("public.test")];
    expect(await pending[2]).toBe("too_many_pending");
    judge.refusePending();
    expect(await Promise.all(pending)).toEqual(["process_ending", "process_ending", "too_many_pending"]);
    const later = reason("public.test");
    judge.end();
    expect(await later).toBe("process_ending");
    expect(await reason("public.test")).toBe("process_ending");
    await nextTurn();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true, true, true]);
  });
});
