// Limits of a client: how it comes back.
import { expect } from "@jest/globals";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import { type Limits, limits } from "../../protocol/index.ts";
import { nextTurn } from "../support/next-turn.ts";
import { refusal } from "../support/refusal.ts";
import { FakeServer, later, type Row } from "./worlds.ts";

/** A client whose server is gone for good, and its clock. */
async function lostClient(overrides: Partial<Limits>): Promise<{ client: RemoteBackend; server: FakeServer }> {
  const server = await FakeServer.open({});
  let isGone = false;
  const client = await server.client(overrides, () => isGone);
  later(() => client.close());
  isGone = true;
  server.clientClock.asked.length = 0;
  server.lastClient?.terminate();
  await nextTurn();
  expect(client.link.state).toBe("recovering");
  return { client, server };
}

/** Pauses between attempts so far: times that were asked for and are no other limit. */
function pauses({ clientClock }: FakeServer): number[] {
  return clientClock.asked.filter((ms) => ms !== limits.recoveryMs && ms !== limits.handshakeMs);
}

export const clientRows = {
  listedProcesses: [
    "a longer list is a violation",
    async () => {
      const server = await FakeServer.open({ listPageBytes: 600 });
      const client = await server.client({ listedProcesses: 2 });
      later(() => client.close());
      for (let count = 0; count < 2; count += 1) await server.host.start();
      expect((await client.list()).length).toBe(2);
      await server.host.start();
      expect((await refusal(client.list())).code).toBe("PROTOCOL_VIOLATION");
    },
  ],
  recoveryMs: [
    "a client gives up after it",
    async () => {
      const { client, server } = await lostClient({ recoveryMs: 70 });
      server.clientClock.advance(69);
      expect(client.link.state).toBe("recovering");
      server.clientClock.advance(1);
      expect(client.link.state).toBe("closed");
    },
  ],
  backoffFirstMs: [
    "the first pause is half of it at least",
    async () => {
      const { server } = await lostClient({ backoffFirstMs: 4_000 });
      expect(pauses(server)[0]).toBeGreaterThanOrEqual(2_000);
    },
  ],
  backoffLastMs: [
    "no pause is longer",
    async () => {
      const { server } = await lostClient({ backoffFirstMs: 10, backoffLastMs: 11 });
      for (let attempts = 0; attempts < 5; attempts += 1) {
        server.clientClock.advance(11);
        await nextTurn();
      }
      expect(pauses(server).length).toBeGreaterThan(4);
      expect(Math.max(...pauses(server))).toBeLessThanOrEqual(11);
    },
  ],
} satisfies Record<string, Row>;
