// Limits of what a server holds for peers that do not read.
import { expect } from "@jest/globals";
import { codexDialect } from "../../lib/codex/server/codex-dialect.ts";
import { serve } from "../../lib/server/server.ts";
import { memoryPair } from "../../lib/transport/memory-pair.ts";
import type { Limits } from "../../protocol/index.ts";
import { FakeHost } from "../support/fake-supervisor.ts";
import { nextTurn } from "../support/next-turn.ts";
import type { WirePeer } from "../support/wire-peer.ts";
import { FakeServer, later, type Role, type Row, UnreadEnd } from "./worlds.ts";

/** A peer that does not read, and whether the server still reads from it. */
async function unread(overrides: Partial<Limits>, role: Role = "control") {
  const server = await FakeServer.open(overrides);
  const end = new UnreadEnd();
  const peer = await server.greeted(role, end.wrap);
  return { server, end, peer };
}

/** Whether the server stops reading from a peer that asks once. */
async function isPausedAfterOne(overrides: Partial<Limits>, role?: Role): Promise<boolean> {
  const { end, peer } = await unread(overrides, role);
  // What it has not read so far is its welcome.
  expect(end.isPaused).toBe(false);
  peer.request(1, "process/list");
  await peer.reply(1);
  return end.isPaused;
}

/** How the connection of a peer is closed after so many milliseconds, in steps as the server looks. */
async function closedAfter({ server, peer }: { server: FakeServer; peer: WirePeer }, ms: number) {
  for (let step = 0; step < 10; step += 1) server.host.clock.advance(ms / 10);
  await nextTurn();
  return peer.closing?.code;
}

export const memoryRows = {
  outboxBytes: [
    "subscriptions wait beyond it",
    async () => {
      const { server, peer } = await unread({ outboxBytes: 5_000, mergeBelowBytes: 0 });
      const { process, child } = await server.host.start();
      const address = { processId: process.id, incarnation: process.incarnation };
      peer.request(1, "process/subscribe", { ...address, afterSeq: 0, delivery: "gap" });
      await peer.reply(1);
      for (let count = 0; count < 10; count += 1) child.output("x".repeat(1_000));
      await nextTurn();
      expect(peer.of("event").length).toBeGreaterThan(0);
      expect(peer.of("event").length).toBeLessThan(5);
    },
  ],
  outboxMaxBytes: [
    "a connection for which more waits is dropped",
    async () => {
      const { peer } = await unread({ outboxMaxBytes: 5_000 });
      for (let id = 1; id <= 10; id += 1) peer.request(id, "process/list");
      expect((await peer.closed).code).toBe(1006);
    },
  ],
  outboxReplyBytes: [
    "a peer with more unread replies is not read",
    async () => expect(await isPausedAfterOne({ outboxReplyBytes: 2_000 })).toBe(true),
  ],
  frameOverheadBytes: [
    "a frame that waits costs so much",
    async () => expect(await isPausedAfterOne({ frameOverheadBytes: 600_000 })).toBe(true),
  ],
  connectionsBytes: [
    "a peer is not read when it has used its share of it",
    async () => expect(await isPausedAfterOne({ connectionsBytes: 4_000, requestOverheadBytes: 0 })).toBe(true),
  ],
  viewConnectionsBytes: [
    "the same for a viewer",
    async () =>
      expect(await isPausedAfterOne({ viewConnectionsBytes: 4_000, requestOverheadBytes: 0 }, "view")).toBe(true),
  ],
  dialectConnectionsBytes: [
    "the same for a client of the Codex protocol",
    async () => {
      const host = new FakeHost({});
      const limits = { dialectConnectionsBytes: 1_000 };
      const dialect = await codexDialect();
      const server = await serve(host.supervisor, { auth: { kind: "none" }, limits, clock: host.clock, dialect });
      later(async () => {
        await server.close();
        await host.close();
      });
      const end = new UnreadEnd();
      const [near, far] = memoryPair();
      far.listen({ frame: () => undefined, closed: () => undefined });
      server.acceptDialect(end.wrap(near));
      far.send(Buffer.from('{"id":1,"method":"initialize","params":{"clientName":"x"}}'));
      await nextTurn();
      expect(end.isPaused).toBe(true);
    },
  ],
  stallMs: [
    "a peer that takes nothing for so long is dropped",
    async () => {
      const world = await unread({ stallMs: 1_000 });
      expect(await closedAfter(world, 900)).toBeUndefined();
      expect(await closedAfter(world, 600)).toBe(1013);
    },
  ],
  crowdedMs: [
    "one that holds more than its share is dropped when the memory is used up for so long",
    async () => {
      const world = await unread({ connectionsBytes: 1_000, crowdedMs: 1_000 });
      expect(await closedAfter(world, 900)).toBeUndefined();
      expect(await closedAfter(world, 700)).toBe(1013);
    },
  ],
} satisfies Record<string, Row>;
