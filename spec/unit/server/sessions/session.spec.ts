// What survives a lost connection: each request is done once, and its outcome is kept until the client has it.
import { describe, expect, it } from "@jest/globals";
import { ExecwireError } from "../../../../lib/errors.ts";
import { MemoryBudget } from "../../../../lib/log/memory-budget.ts";
import { ReplayLog } from "../../../../lib/log/replay-log.ts";
import type { TerminateOptions } from "../../../../lib/process/port.ts";
import type { Role } from "../../../../lib/server/auth.ts";
import { type NativeSession, Resumption } from "../../../../lib/server/sessions/resumption.ts";
import { Session, type SessionConnection } from "../../../../lib/server/sessions/session.ts";
import type { SharedProcess } from "../../../../lib/server/shared-process.ts";
import type { SharedProcesses } from "../../../../lib/server/shared-processes.ts";
import { decode, encode, type ReplyMessage } from "../../../../protocol/index.ts";
import { print } from "../../../support/log-writing.ts";
import { nextTurn } from "../../../support/next-turn.ts";
import { refusal } from "../../../support/refusal.ts";

/** A connection that keeps the frames it is given. */
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

const open = (role: Role, budget?: MemoryBudget): NativeSession => new Session(role, new Resumption(budget));
/** Does a request of a session once, like a connection. */
const once = (session: NativeSession, id: number, act: () => Promise<Uint8Array>, after: () => void = nothing) =>
  session.state.once(id, act, (outcome) => session.connection?.send(outcome), after);

const reply = (id: number): ReplyMessage => ({ type: "reply", id, result: { id } });
const frame = (id: number) => encode(reply(id));
const nothing = () => undefined;

describe("a session", () => {
  it("holds what a lossless subscription has not read, and starts a new position once the old one has lapsed", () => {
    const log = new ReplayLog({ retainedBytes: 3 });
    const shared = { log, removalListeners: new Set() } as unknown as SharedProcess;
    const session = open("control");
    const first = session.state.positionOf(shared, 0);
    for (const text of ["one", "two"]) print(log, text);
    first.ack(2);
    // A reader that came later begins further back.
    expect([session.state.positionOf(shared, 1) === first, first.bytesUpTo(2)]).toEqual([true, 3]);
    log.holds.beginLease();
    log.holds.endLease();
    const second = session.state.positionOf(shared, 2);
    print(log, "six");
    expect([first.isLive, second.isLive, second.bytesUpTo(3)]).toEqual([false, true, 3]);
    session.end();
    expect(second.isLive).toBe(false);
  });

  it("listens for the removal of a process as long as it has a position in it", () => {
    const shared = { log: new ReplayLog(), removalListeners: new Set() } as unknown as SharedProcess;
    const session = open("control");
    const position = session.state.positionOf(shared, 0);
    expect([[...shared.removalListeners], session.ownsNothing]).toEqual([[session.state], false]);
    session.state.release(shared);
    expect([shared.removalListeners.size, position.isLive, session.ownsNothing]).toEqual([0, false, true]);
    session.state.positionOf(shared, 0);
    session.end();
    expect([shared.removalListeners.size, session.ownsNothing]).toEqual([0, true]);
  });

  it("kills a process that started after its end, also on a backend without trees", async () => {
    const session = open("control");
    const asked: unknown[] = [];
    const terminate = async (options?: TerminateOptions) => {
      asked.push(options);
      if (options?.scope) throw new ExecwireError("UNSUPPORTED", "no trees");
      return { running: true };
    };
    const start = async () => ({ process: { terminate } }) as unknown as SharedProcess;
    const starting = session.start({ start } as unknown as SharedProcesses, { argv: ["true"] }, "i");
    session.end();
    expect(await refusal(starting)).toEqual({ code: "CLOSED", data: {} });
    expect(asked).toEqual([{ scope: "tree" }, undefined]);
  });

  it("starts nothing after its end, also if the start was waiting for file operations", async () => {
    const session = open("control");
    session.end();
    const start = () => Promise.reject(new Error("it was started"));
    const starting = session.start({ start } as unknown as SharedProcesses, { argv: ["true"] }, "i");
    expect(await refusal(starting)).toEqual({ code: "CLOSED", data: {} });
  });

  it("has the role and the grace with which it was created", () => {
    const { role, graceMs } = new Session("view", new Resumption(), 5);
    expect([role, graceMs, open("control").graceMs]).toEqual(["view", 5, undefined]);
  });

  it("keeps replies up to the last byte of its bound", async () => {
    const session = new Session("control", new Resumption(undefined, 10));
    once(session, 1, async () => new Uint8Array(90), nothing);
    await nextTurn();
    const isFull = (sessionRepliesBytes: number) => session.state.isFull({ requests: 100, sessionRepliesBytes });
    expect([isFull(99), isFull(100)]).toEqual([true, false]);
  });

  it("does a request once, and answers each repetition with the first outcome", async () => {
    const session = open("control");
    const connection = new Recorder();
    session.attach(connection);
    let done = 0;
    const act = async () => {
      done += 1;
      return frame(1);
    };
    once(session, 1, act, nothing);
    await nextTurn();
    once(session, 1, act, nothing);
    await nextTurn();
    expect([done, connection.sent]).toEqual([1, [reply(1), reply(1)]]);
  });

  it("answers a request that is repeated while it runs once, on the current connection", async () => {
    const session = open("control");
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
    once(session, 1, act, nothing);
    session.detach(first);
    session.attach(second);
    once(session, 1, act, nothing);
    finish(frame(1));
    await nextTurn();
    expect([done, first.sent, second.sent]).toEqual([1, [], [reply(1)]]);
  });

  it("keeps the outcome of a request that ends without a connection", async () => {
    const session = open("control");
    once(session, 1, async () => frame(1), nothing);
    await nextTurn();
    const connection = new Recorder();
    session.attach(connection);
    once(session, 1, async () => frame(99), nothing);
    expect(connection.sent).toEqual([reply(1)]);
  });

  it("drops acknowledged outcomes, and never a running request", async () => {
    const session = open("control");
    for (const id of [1, 2]) once(session, id, async () => frame(id), nothing);
    once(session, 3, () => new Promise<Uint8Array>(nothing), nothing);
    await nextTurn();
    const isFull = (requests: number) => session.state.isFull({ requests, sessionRepliesBytes: 1_000_000 });
    const holds = () => [1, 2, 3, 4].filter(isFull).length;
    expect(holds()).toBe(3);
    session.state.forget([1, 3, 99]);
    expect(holds()).toBe(2);
    session.state.forgetAllBut([]);
    expect(holds()).toBe(1);
    expect([session.state.knows(3), session.state.knows(99), isFull(1)]).toEqual([true, false, true]);
  });

  it("keeps no more unacknowledged replies than its own bound and that of all sessions allow", async () => {
    const kept = new MemoryBudget(3_000);
    const [session, other] = [open("control", kept), open("control", kept)];
    const bounds = { requests: 100, sessionRepliesBytes: 2_500 };
    once(session, 1, async () => new Uint8Array(1_000), nothing);
    await nextTurn();
    expect([session.state.isFull(bounds), other.state.isFull(bounds)]).toEqual([false, false]);
    once(other, 1, async () => new Uint8Array(1_000), nothing);
    await nextTurn();
    // A reply costs more than its bytes.
    expect([session.state.isFull(bounds), other.state.isFull(bounds)]).toEqual([true, true]);
    session.state.forget([1]);
    expect(other.state.isFull(bounds)).toBe(false);
    other.end();
    expect(kept.used).toBe(0);
  });

  it("keeps no replies once it has ended", async () => {
    const kept = new MemoryBudget(1_000);
    const session = open("view", kept);
    let settle: (frame: Uint8Array) => void = nothing;
    once(
      session,
      1,
      () =>
        new Promise<Uint8Array>((resolve) => {
          settle = resolve;
        }),
      nothing,
    );
    session.end();
    settle(frame(1));
    once(session, 2, async () => frame(2), nothing);
    await nextTurn();
    expect([kept.used, session.state.knows(1), session.state.knows(2)]).toEqual([0, false, false]);
  });

  it("performs the follow-up of a reply after the reply", async () => {
    const session = open("control");
    const order: string[] = [];
    session.attach({ send: () => order.push("reply"), supersede: nothing });
    once(
      session,
      1,
      async () => frame(1),
      () => order.push("after"),
    );
    await nextTurn();
    expect(order).toEqual(["reply", "after"]);
  });

  it("belongs to one connection at a time, and notifies the previous one", () => {
    const session = open("control");
    const [first, second] = [new Recorder(), new Recorder()];
    session.attach(first);
    session.attach(second);
    expect([first.superseded, second.superseded]).toEqual([1, 0]);
    expect(session.detach(first)).toBe(false);
    expect(session.connection).toBe(second);
    expect(session.detach(second)).toBe(true);
    expect(session.connection).toBe(undefined);
  });
});
