// Bytes in flight: a full outbox says so, and calls again only when half of it is out.
import { describe, expect, it } from "@jest/globals";
import { Outbox } from "../../../lib/server/outbox.ts";
import type { Transport } from "../../../lib/transport/transport.ts";

/** A transport whose frames leave when the spec says so. */
function make(limits = { outboxBytes: 100, outboxMaxBytes: 300 }) {
  const unsent: (() => void)[] = [];
  const told: string[] = [];
  const transport: Transport = {
    listen: () => undefined,
    send: (_frame, sent) => unsent.push(sent as () => void),
    close: () => undefined,
    terminate: () => undefined,
  };
  const outbox = new Outbox(
    transport,
    limits,
    () => told.push("room"),
    () => told.push("overflow"),
  );
  const send = (bytes: number) => outbox.send(new Uint8Array(bytes));
  return { outbox, send, unsent, told, sent: () => unsent.shift()?.() };
}

describe("an outbox", () => {
  it("has room below its bound", () => {
    const { outbox, send } = make();
    expect(outbox.hasRoom).toBe(true);
    send(99);
    expect(outbox.hasRoom).toBe(true);
    send(1);
    expect(outbox.hasRoom).toBe(false);
  });

  it("has room again when half of it is out, and tells so once", () => {
    const { outbox, send, sent, told } = make();
    for (let count = 0; count < 5; count += 1) send(20);
    sent();
    sent();
    expect([outbox.hasRoom, told]).toEqual([false, []]);
    sent();
    expect([outbox.hasRoom, told]).toEqual([true, ["room"]]);
    sent();
    sent();
    expect(told).toEqual(["room"]);
  });

  it("says nothing of room that never was short", () => {
    const { send, sent, told } = make();
    send(99);
    sent();
    expect(told).toEqual([]);
  });

  it("takes a frame larger than itself, and then has no room until it is out", () => {
    const { outbox, send, sent } = make();
    send(250);
    expect(outbox.hasRoom).toBe(false);
    sent();
    expect(outbox.hasRoom).toBe(true);
  });

  it("tells when replies pile up beyond every bound", () => {
    const { send, told } = make();
    send(300);
    expect(told).toEqual([]);
    send(1);
    expect(told).toEqual(["overflow"]);
  });
});
