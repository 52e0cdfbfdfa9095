// The sessions of a server: their number, how long they wait for their client, and which client may resume them.
import { describe, expect, it } from "@jest/globals";
import { type NativeSession, Resumption, resume } from "../../../../lib/server/sessions/resumption.ts";
import { Session, type SessionConnection } from "../../../../lib/server/sessions/session.ts";
import { Sessions } from "../../../../lib/server/sessions/sessions.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const open = (role: "view" | "control"): NativeSession => new Session(role, new Resumption());
const nothing = () => undefined;
/** A connection; only its identity matters. */
const connect = (): SessionConnection => ({ send: nothing, supersede: nothing });

describe("the sessions of a server", () => {
  function make(max = 2) {
    const clock = new FakeClock();
    const ended: Session[] = [];
    const limits = { sessions: max, viewSessions: max, sessionTtlMs: 1_000, viewSessionTtlMs: 100 };
    return { clock, ended, sessions: new Sessions(clock, limits, (session) => ended.push(session)) };
  }

  /** A session that had a connection and lost it. */
  function detached(sessions: Sessions, role: "view" | "control"): Session {
    const session = sessions.add(open(role));
    const connection = connect();
    sessions.attach(session, connection);
    sessions.detach(session, connection);
    return session;
  }
  const unknown = expect.objectContaining({ code: "SESSION_UNKNOWN" });

  it("expire if their client does not reconnect in time, counted from the last loss", () => {
    const { clock, ended, sessions } = make();
    const session = sessions.add(open("control"));
    for (let round = 0; round < 2; round += 1) {
      const connection = connect();
      sessions.attach(session, connection);
      clock.advance(5_000);
      sessions.detach(session, connection);
      clock.advance(999);
      expect(ended).toEqual([]);
    }
    clock.advance(1);
    expect(ended).toEqual([session]);
    expect(() =>
      resume(sessions, { sessionId: session.id, secret: session.state.secret, pending: [] }, "control"),
    ).toThrow(unknown);
  });

  it("do not expire when a connection is lost that was superseded", () => {
    const { clock, ended, sessions } = make();
    const session = sessions.add(open("control"));
    const [first, second] = [connect(), connect()];
    sessions.attach(session, first);
    sessions.attach(session, second);
    sessions.detach(session, first);
    clock.advance(10_000);
    expect(ended).toEqual([]);
  });

  it("are resumed only with their secret and in the same role", () => {
    const { sessions } = make();
    const { id: sessionId, state } = sessions.add(open("view"));
    const { secret } = state;
    const come = (facts: object, role: "view" | "control" = "view") =>
      resume(sessions, { sessionId, secret, pending: [], ...facts }, role);
    expect(come({}).id).toBe(sessionId);
    expect(() => come({ secret: "" })).toThrow(unknown);
    expect(() => come({ secret: secret.slice(1) })).toThrow(unknown);
    expect(() => come({ sessionId: "x" })).toThrow(unknown);
    expect(() => come({}, "control")).toThrow(unknown);
  });

  it("are limited in number", () => {
    const { sessions } = make(2);
    const first = sessions.add(open("control"));
    sessions.add(open("control"));
    expect(() => sessions.add(open("control"))).toThrow(
      expect.objectContaining({ code: "LIMIT_EXCEEDED", data: { limit: "sessions" } }),
    );
    sessions.end(first);
    expect(sessions.add(open("control"))).not.toBe(first);
  });

  it("of viewers leave room for controlling ones, however many come", () => {
    const { sessions } = make(2);
    for (let count = 0; count < 2; count += 1) sessions.add(open("view"));
    expect(() => sessions.add(open("view"))).toThrow(
      expect.objectContaining({ code: "LIMIT_EXCEEDED", data: { limit: "viewSessions" } }),
    );
    for (let count = 0; count < 2; count += 1) sessions.add(open("control"));
  });

  it("of viewers end soon after their connection, controlling ones keep their time", () => {
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
    "make room if they are detached and own nothing, the oldest first (%s)",
    (role) => {
      const { ended, sessions } = make(3);
      const owner = detached(sessions, role);
      owner.starting.add("p");
      const [older, newer] = [detached(sessions, role), detached(sessions, role)];
      sessions.add(open(role));
      expect(ended).toEqual([older]);
      sessions.add(open(role));
      expect(ended).toEqual([older, newer]);
      expect(() => sessions.add(open(role))).toThrow(expect.objectContaining({ code: "LIMIT_EXCEEDED" }));
    },
  );

  it("have secrets that nobody can guess", () => {
    const secrets = new Set(Array.from({ length: 100 }, () => open("view").state.secret));
    expect(secrets.size).toBe(100);
    for (const secret of secrets) expect(Buffer.from(secret, "base64url").length).toBe(32);
  });
});
