// Metrics of connections that are cut, as an OpenTelemetry SDK sees them: over real sockets, with a proxy that cuts them.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { RemoteBackend } from "../../../lib/client/remote-backend.ts";
import { connectCodex } from "../../../lib/codex/client/connect-codex.ts";
import { CODEX_TOKEN, CodexHost } from "../../support/codex-host.ts";
import { Metrics } from "../../support/metrics.ts";
import { outcome, printed } from "../../support/outcome.ts";
import { settled } from "../../support/system-wait.ts";
import { WireHost } from "../../support/wire-host.ts";
import { comesBack } from "../../support/wire-link.ts";
import { WireProxy } from "../../support/wire-proxy.ts";

let metrics: Metrics;
beforeEach(() => {
  metrics = new Metrics();
});
afterEach(() => metrics.close());

describe("a cut connection", () => {
  let host: WireHost;
  let client: RemoteBackend;
  beforeEach(async () => {
    const { meter } = metrics;
    host = await WireHost.open({ meter });
    client = await host.connect({ meter });
  });
  afterEach(() => host.close());

  it("counts as a reconnect of the client and as a resumed session of the server, each time", async () => {
    expect(await metrics.numbers()).toEqual({});
    for (let cut = 1; cut <= 3; cut += 1) {
      host.proxy.cut();
      await comesBack(client);
      expect(await metrics.numbers()).toEqual({ "exec.client.reconnects": cut, "exec.session.resumes": cut });
    }
  });

  it("counts nothing when another client connects, or this one disconnects", async () => {
    const other = await host.connect({ meter: metrics.meter });
    await other.close();
    await client.close();
    expect(await metrics.numbers()).toEqual({});
  });

  it("counts a request that is sent again after it was done", async () => {
    const process = await client.start({ argv: ["/bin/cat"], pipeStdin: true });
    const local = await host.supervisor.attach(process.id);
    host.proxy.hold("down");
    const writing = process.write("once\n");
    await printed(local, "once\n");
    const back = comesBack(client);
    host.proxy.cut();
    host.proxy.release();
    expect(await writing).toBe("accepted");
    await back;
    await process.closeStdin();
    expect((await outcome(process)).stdout).toBe("once\n");
    expect(await metrics.numbers()).toEqual({
      "exec.client.reconnects": 1,
      "exec.session.resumes": 1,
      "exec.request.duplicates": 1,
    });
  });
});

describe("a cut connection of the Codex protocol", () => {
  it("counts as a reconnect and as a resumed session too", async () => {
    const { meter } = metrics;
    const host = await CodexHost.open({ meter });
    const proxy = await WireProxy.to(host.url);
    const limits = { backoffFirstMs: 1, backoffLastMs: 10 };
    const client = await connectCodex(proxy.url, { token: CODEX_TOKEN, meter, limits });
    proxy.cut();
    const counted = await settled(
      () => metrics.numbers(),
      (numbers) => Object.keys(numbers).length === 2,
    );
    expect(counted).toEqual({ "exec.client.reconnects": 1, "exec.session.resumes": 1 });
    await client.close();
    await proxy.close();
    await host.close();
  });
});
