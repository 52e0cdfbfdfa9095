// What survives a lost connection: a request is done once, and its outcome is kept until the client has it.
import { describe, expect, it } from "@jest/globals";
import { MemoryBudget } from "../../../lib/log/memory-budget.ts";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import type { Channel } from "../../../lib/server/channel.ts";
import { Session, type SessionConnection } from "../../../lib/server/session.ts";
import { Sessions } from "../../../lib/server/sessions.ts";
import { decode, encode, type ReplyMessage } from "../../../protocol/index.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { print } from "../../support/log-writing.ts";
import { nextTurn } from "../../support/next-turn.ts";

/** A connection that keeps what it is given. */
class Recorder implements SessionConnection {
  readonly sent: unknown[] = [];
  superseded = 0;

  send(frame: Uint8Array): void {
    this.sent.push(decode(frame));
  }

  supersede(): void {
    this.superseded += 1;
  }
}

const reply = (id: number): ReplyMessage => ({ type: "reply", id, result: { id } });
const frame = (id: number) => encode(reply(id));
const nothing = () => undefined;

describe("a session", () => {
  it("holds what a lossless subscription has not read from where that begins, and anew once the client was taken for gone", () => {
    const log = new ReplayLog({ retainedBytes: 3 });
    const channel = { process: { log }, holders: new Set() } as unknown as Channel;
    const session = new Session("control");
    const first = session.positionIn(channel, 0);
    for (const text of ["one", "two"]) print(log, text);
    first.ack(2);
    // A reader that came later begins further back.
    expect([session.positionIn(channel, 1) === first, first.bytesUpTo(2)]).toEqual([true, 3]);
    log.holds.beginLease();
    log.holds.endLease();
    const second = session.positionIn(channel, 2);
    print(log, "six");
    expect([first.isLive, second.isLive, second.bytesUpTo(3)]).toEqual([false, true, 3]);
    session.end();
    expect(second.isLive).toBe(false);
  });

  it("does a request once and answers each time with the first outcome", async () => {
    const session = new Session("control");
    const connection = new Recorder();
    session.attach(connection);
    let done = 0;
    const act = async () => {
      done += 1;
      return frame(1);
    };
    session.once(1, act, nothing);
    await nextTurn();
    session.once(1, act, nothing);
    await nextTurn();
    expect([done, connection.sent]).toEqual([1, [reply(1), reply(1)]]);
  });

  it("answers a request that is running when it is repeated once, on the connection of that moment", async () => {
    const session = new Session("control");
    const [first, second] = [new Recorder(), new Recorder()];
    session.attach(first);
    let finish: (reply: Uint8Array) => void = nothing;
    let done = 0;
    const act = () => {
      done += 1;
      return new Promise<Uint8Array>((resolve) => {
        finish = resolve;
      });
    };
    session.once(1, act, nothing);
    session.detach(first);
    session.attach(second);
    session.once(1, act, nothing);
    finish(frame(1));
    await nextTurn();
    expect([done, first.sent, second.sent]).toEqual([1, [], [reply(1)]]);
  });

  it("keeps the outcome of a request that ends while nobody is connected", async () => {
    const session = new Session("control");
    session.once(1, async () => frame(1), nothing);
    await nextTurn();
    const connection = new Recorder();
    session.attach(connection);
    session.once(1, async () => frame(99), nothing);
    expect(connection.sent).toEqual([reply(1)]);
  });

  it("forgets outcomes that were acknowledged, and never a request that is running", async () => {
    const session = new Session("control");
    for (const id of [1, 2]) session.once(id, async () => frame(id), nothing);
    session.once(3, () => new Promise<Uint8Array>(nothing), nothing);
    await nextTurn();
    const isFull = (requests: number) => session.isFull({ requests, sessionRepliesBytes: 1_000_000 });
    const holds = () => [1, 2, 3, 4].filter(isFull).length;
    expect(holds()).toBe(3);
    session.forget([1, 3, 99]);
    expect(holds()).toBe(2);
    session.forgetAllBut([]);
    expect(holds()).toBe(1);
    expect([session.knows(3), session.knows(99), isFull(1)]).toEqual([true, false, true]);
  });

  it("keeps no more unacknowledged replies than its bound, nor than all sessions may together", async () => {
    const kept = new MemoryBudget(3_000);
    const [session, other] = [new Session("control", { kept }), new Session("control", { kept })];
    const bounds = { requests: 100, sessionRepliesBytes: 2_500 };
    session.once(1, async () => new Uint8Array(1_000), nothing);
    await nextTurn();
    expect([session.isFull(bounds), other.isFull(bounds)]).toEqual([false, false]);
    other.once(1, async () => new Uint8Array(1_000), nothing);
    await nextTurn();
    // A reply costs more than its bytes.
    expect([session.isFull(bounds), other.isFull(bounds)]).toEqual([true, true]);
    session.forget([1]);
    expect(other.isFull(bounds)).toBe(false);
    other.end();
    expect(kept.used).toBe(0);
  });

  it("keeps no replies once it is over and cannot be resumed", async () => {
    const kept = new MemoryBudget(1_000);
    const session = new Session("view", { kept });
    let settle: (frame: Uint8Array) => void = nothing;
    session.once(
      1,
      () =>
        new Promise<Uint8Array>((resolve) => {
          settle = resolve;
        }),
      nothing,
    );
    session.end();
    settle(frame(1));
    session.once(2, async () => frame(2), nothing);
    await nextTurn();
    expect([kept.used, session.knows(1), session.knows(2)]).toEqual([0, false, false]);
  });

  it("does what belongs after a reply after it", async () => {
    const session = new Session("control");
    const order: string[] = [];
    session.attach({ send: () => order.push("reply"), supersede: nothing });
    session.once(
      1,
      async () => frame(1),
      () => order.push("after"),
    );
    await nextTurn();
    expect(order).toEqual(["reply", "after"]);
  });

  it("belongs to one connection at a time, and the one before is told", () => {
    const session = new Session("control");
    const [first, second] = [new Recorder(), new Recorder()];
    session.attach(first);
    session.attach(second);
    expect([first.superseded, second.superseded]).toEqual([1, 0]);
    expect(session.detach(first)).toBe(false);
    expect(session.connected).toBe(true);
    expect(session.detach(second)).toBe(true);
    expect(session.connected).toBe(false);
  });
});

describe("the sessions of a server", () => {
  function make(max = 2) {
    const clock = new FakeClock();
    const ended: Session[] = [];
    const limits = { sessions: max, viewSessions: max, sessionTtlMs: 1_000, viewSessionTtlMs: 100 };
    return { clock, ended, sessions: new Sessions(clock, limits, (session) => ended.push(session)) };
  }

  /** A session that had a connection and lost it. */
  function detached(sessions: Sessions, role: "view" | "control"): Session {
    const session = sessions.add(new Session(role));
    const connection = new Recorder();
    sessions.attach(session, connection);
    sessions.detach(session, connection);
    return session;
  }
  const unknown = expect.objectContaining({ code: "SESSION_UNKNOWN" });

  it("end when nobody comes back in time, counted from the last loss", () => {
    const { clock, ended, sessions } = make();
    const session = sessions.add(new Session("control"));
    for (let round = 0; round < 2; round += 1) {
      const connection = new Recorder();
      sessions.attach(session, connection);
      clock.advance(5_000);
      sessions.detach(session, connection);
      clock.advance(999);
      expect(ended).toEqual([]);
    }
    clock.advance(1);
    expect(ended).toEqual([session]);
    expect(() => sessions.resume({ sessionId: session.id, secret: session.secret, pending: [] }, "control")).toThrow(
      unknown,
    );
  });

  it("do not expire when a connection is lost that had been taken over", () => {
    const { clock, ended, sessions } = make();
    const session = sessions.add(new Session("control"));
    const [first, second] = [new Recorder(), new Recorder()];
    sessions.attach(session, first);
    sessions.attach(session, second);
    sessions.detach(session, first);
    clock.advance(10_000);
    expect(ended).toEqual([]);
  });

  it("are given to who shows the secret in the same role, and to nobody else", () => {
    const { sessions } = make();
    const { id: sessionId, secret } = sessions.add(new Session("view"));
    const resume = (facts: object, role: "view" | "control" = "view") =>
      sessions.resume({ sessionId, secret, pending: [], ...facts }, role);
    expect(resume({}).id).toBe(sessionId);
    expect(() => resume({ secret: "" })).toThrow(unknown);
    expect(() => resume({ secret: secret.slice(1) })).toThrow(unknown);
    expect(() => resume({ sessionId: "x" })).toThrow(unknown);
    expect(() => resume({}, "control")).toThrow(unknown);
  });

  it("are not more than so many", () => {
    const { sessions } = make(2);
    const first = sessions.add(new Session("control"));
    sessions.add(new Session("control"));
    expect(() => sessions.add(new Session("control"))).toThrow(
      expect.objectContaining({ code: "LIMIT_EXCEEDED", data: { limit: "sessions" } }),
    );
    sessions.end(first);
    expect(sessions.add(new Session("control"))).not.toBe(first);
  });

  it("of viewers leave those that control their room, however many come", () => {
    const { sessions } = make(2);
    for (let count = 0; count < 2; count += 1) sessions.add(new Session("view"));
    expect(() => sessions.add(new Session("view"))).toThrow(
      expect.objectContaining({ code: "LIMIT_EXCEEDED", data: { limit: "viewSessions" } }),
    );
    for (let count = 0; count < 2; count += 1) sessions.add(new Session("control"));
  });

  it("of viewers end soon after their connection, those that control keep their time", () => {
    const { clock, ended, sessions } = make();
    const control = detached(sessions, "control");
    const view = detached(sessions, "view");
    clock.advance(99);
    expect(ended).toEqual([]);
    clock.advance(1);
    expect(ended).toEqual([view]);
    clock.advance(900);
    expect(ended).toEqual([view, control]);
  });

  it.each(["view", "control"] as const)(
    "make room when they are detached and own nothing, the oldest first (%s)",
    (role) => {
      const { ended, sessions } = make(3);
      const owner = detached(sessions, role);
      owner.starting.add("p");
      const [older, newer] = [detached(sessions, role), detached(sessions, role)];
      sessions.add(new Session(role));
      expect(ended).toEqual([older]);
      sessions.add(new Session(role));
      expect(ended).toEqual([older, newer]);
      expect(() => sessions.add(new Session(role))).toThrow(expect.objectContaining({ code: "LIMIT_EXCEEDED" }));
    },
  );

  it("have secrets that nobody can guess", () => {
    const secrets = new Set(Array.from({ length: 100 }, () => new Session("view").secret));
    expect(secrets.size).toBe(100);
    for (const secret of secrets) expect(Buffer.from(secret, "base64url").length).toBe(32);
  });
});
