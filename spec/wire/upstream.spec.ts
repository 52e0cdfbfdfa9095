// A relay that has lost its own server: it reports the loss to its clients, and keeps running.
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { firstValueFrom } from "rxjs";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import { connect } from "../../lib/connect.ts";
import { type ExecwireServer, serve } from "../../lib/server/server.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { nextTurn } from "../support/next-turn.ts";
import { refusal } from "../support/refusal.ts";
import { WireHost } from "../support/wire-host.ts";
import { becomes } from "../support/wire-link.ts";

describe("a relay that has lost its own server", () => {
  const clock = new FakeClock();
  let host: WireHost;
  let upstream: RemoteBackend;
  let relay: ExecwireServer;
  beforeAll(async () => {
    host = await WireHost.open();
    upstream = await host.connect({ limits: { recoveryMs: 100 } });
    relay = await serve(upstream, { auth: { kind: "none" }, listen: { host: "127.0.0.1", port: 0 }, clock });
  });
  afterAll(async () => {
    await relay.close();
    await host.close();
  });

  it("reports the lost processes to its clients, and survives ending a session whose processes it cannot end", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", note);
    try {
      const client = await connect(relay.url as string);
      const started = await client.start({ argv: ["/bin/sleep", "600"] });
      const lost = refusal(firstValueFrom(started.exit$));
      host.proxy.refuse();
      await becomes(upstream, "closed");
      expect(await lost).toMatchObject({ code: "CONNECTION_LOST", data: { reason: "unreachable" } });
      expect(await refusal(client.list())).toMatchObject({ code: "CONNECTION_LOST" });
      // The client closes: the relay ends its session and tries to end the process.
      await client.close();
      await nextTurn();
      await nextTurn();
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  });

  it("survives closing with a session whose processes it cannot end", async () => {
    const second = await WireHost.open();
    const link = await second.connect({ limits: { recoveryMs: 50 } });
    const server = await serve(link, { auth: { kind: "none" }, listen: { host: "127.0.0.1", port: 0 }, clock });
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", note);
    try {
      const client = await connect(server.url as string);
      await client.start({ argv: ["/bin/sleep", "600"] });
      second.proxy.refuse();
      await becomes(link, "closed");
      await server.close();
      await nextTurn();
      await nextTurn();
      expect(unhandled).toEqual([]);
      client.link.close();
    } finally {
      process.off("unhandledRejection", note);
      await second.close();
    }
  });
});
