// Half-open connections, which are lost without a close: both sides detect the silence, and the client reconnects.
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import { connect } from "../../lib/connect.ts";
import { outcome, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { WireHost } from "../support/wire-host.ts";
import { becomes } from "../support/wire-link.ts";

describe("a connection that has gone silent", () => {
  let host: WireHost;
  let client: RemoteBackend;
  beforeAll(async () => {
    host = await WireHost.open({ limits: { pingMs: 40 } });
    client = await host.connect({ limits: { handshakeMs: 200 } });
  });
  afterAll(() => host.close());

  it("is detected by the client, which reconnects and goes on", async () => {
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

  it("is kept when it is only idle", async () => {
    const before = host.proxy.connections;
    // Longer than the time after which a dead connection is given up.
    const other = await host.connectDirectly();
    for (let round = 0; round < 6; round += 1) {
      const quiet = await other.start({ argv: ["/bin/sleep", "0.04"] });
      await outcome(quiet);
    }
    expect(client.link.state).toBe("connected");
    expect(host.proxy.connections).toBe(before);
  });

  it("is replaced by further attempts while new connections stay silent too", async () => {
    host.proxy.hold("up", "down");
    await becomes(client, "recovering");
    const before = host.proxy.connections;
    // New connections open and stay silent: TCP accepts, no server speaks. They must be given up one after the other.
    const second = new Promise<void>((resolve) => {
      const check = () => (host.proxy.connections >= before + 2 ? resolve() : setImmediate(check));
      check();
    });
    await second;
    host.proxy.cut();
    host.proxy.release();
    await becomes(client, "connected");
    expect(client.link.state).toBe("connected");
  });

  it("delays the close of a client by at most closeDeadlineMs", async () => {
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

describe("a server that accepts the connection and stays silent", () => {
  let silent: Server;
  beforeAll((done) => {
    // Reads everything: otherwise the server would not notice the end of the client, and keep the socket.
    silent = createServer((socket) => socket.resume()).listen(0, "127.0.0.1", () => done());
  });
  afterAll(() => {
    silent.close();
  });

  it("makes connecting fail after handshakeMs", async () => {
    const { port } = silent.address() as AddressInfo;
    const connecting = connect(`ws://127.0.0.1:${port}`, { limits: { handshakeMs: 100 } });
    await expect(connecting).rejects.toMatchObject({ code: "CONNECTION_LOST", data: { reason: "unreachable" } });
  }, 3_000);
});
