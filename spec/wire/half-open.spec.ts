// Connections that are gone without a word: both sides notice by silence, and the client comes back.
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import { connect } from "../../lib/connect.ts";
import { outcome, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { WireHost } from "../support/wire-host.ts";
import { becomes } from "../support/wire-link.ts";

describe("a connection that went silent", () => {
  let host: WireHost;
  let client: RemoteBackend;
  beforeAll(async () => {
    host = await WireHost.open({ limits: { pingMs: 40 } });
    client = await host.connect({ limits: { handshakeMs: 200 } });
  });
  afterAll(() => host.close());

  it("is noticed by the client, which comes back and goes on", async () => {
    const process = await client.start({ argv: sh("echo one; read line; echo $line"), pipeStdin: true });
    await printed(process, "one");
    host.proxy.hold("up", "down");
    await becomes(client, "recovering");
    const writing = process.write("two\n");
    host.proxy.cut();
    host.proxy.release();
    expect(await writing).toBe("accepted");
    expect((await outcome(process)).stdout).toBe("one\ntwo\n");
  });

  it("stays when only nobody has anything to say", async () => {
    const before = host.proxy.connections;
    // Longer than it takes to be given up, measured by the pings of another client that is.
    const other = await host.connectDirectly();
    for (let round = 0; round < 6; round += 1) {
      const quiet = await other.start({ argv: ["/bin/sleep", "0.04"] });
      await outcome(quiet);
    }
    expect(client.link.state).toBe("connected");
    expect(host.proxy.connections).toBe(before);
  });

  it("is tried anew when a new one opens and says nothing either", async () => {
    host.proxy.hold("up", "down");
    await becomes(client, "recovering");
    const before = host.proxy.connections;
    // New connections are made and swallowed: TCP answers, nobody speaks. They must be given up one after the other.
    const second = new Promise<void>((resolve) => {
      const look = () => (host.proxy.connections >= before + 2 ? resolve() : setImmediate(look));
      look();
    });
    await second;
    host.proxy.cut();
    host.proxy.release();
    await becomes(client, "connected");
    expect(client.link.state).toBe("connected");
  });

  it("keeps nobody from closing for longer than closeDeadlineMs", async () => {
    const leaving = await host.connect({ limits: { closeDeadlineMs: 50 } });
    host.proxy.hold("up", "down");
    const closing = leaving.close();
    host.proxy.refuse();
    host.proxy.cut();
    await closing;
    expect(leaving.link.state).toBe("closed");
    host.proxy.admit();
    host.proxy.release();
  });
});

describe("a server that takes the connection and says nothing", () => {
  let silent: Server;
  beforeAll((done) => {
    // What comes is read, or the end of the client would never be noticed and its socket stay.
    silent = createServer((socket) => socket.resume()).listen(0, "127.0.0.1", () => done());
  });
  afterAll(() => {
    silent.close();
  });

  it("is no server: connecting fails in handshakeMs", async () => {
    const { port } = silent.address() as AddressInfo;
    const connecting = connect(`ws://127.0.0.1:${port}`, { limits: { handshakeMs: 100 } });
    await expect(connecting).rejects.toMatchObject({ code: "CONNECTION_LOST", data: { reason: "unreachable" } });
  }, 3_000);
});
