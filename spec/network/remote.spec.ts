// Managed networks of processes on a server: the client that started a process decides about it, over the wire.
import { afterEach, expect, it } from "@jest/globals";
import { run } from "../../lib/exec/run/run.ts";
import type { Backend } from "../../lib/process/backend.ts";
import type { NetworkController, NetworkHandler } from "../../lib/process/network-controller.ts";
import { serve } from "../../lib/server/server.ts";
import type { ManagedNetwork, NetworkAnswer, NetworkDecision, NetworkRequest } from "../../protocol/index.ts";
import { describeSandbox, READ_ONLY } from "../sandbox/sandbox-host.ts";
import { outcome, printed } from "../support/outcome.ts";
import { TOKEN, WireHost } from "../support/wire-host.ts";
import { makeWebServer } from "./web-server.ts";

const NEVER: NetworkHandler = () => new Promise(() => undefined);

describeSandbox("a client that starts a process with a managed network", () => {
  const web = makeWebServer();
  const undo: (() => unknown)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step();
  });
  const open = async () => {
    const host = await WireHost.open();
    undo.push(() => host.close());
    return host;
  };
  const spec = (script: string, network: Omit<ManagedNetwork, "mode"> = { allowLocal: true }) => ({
    argv: ["/bin/sh", "-c", script],
    env: { PATH: "/usr/bin:/bin", PORT: String(web.port) },
    sandbox: { ...READ_ONLY, network: { mode: "managed" as const, ...network } },
  });
  const CURL = "curl -s -o /dev/null -w '%{http_code}\\n'";

  /** Records what a controller is asked and learns. */
  function recorder(answer: NetworkHandler) {
    const requests: NetworkRequest[] = [];
    const decisions: NetworkDecision[] = [];
    const controller: NetworkController = {
      onNetworkRequest: (request, signal) => {
        requests.push(request);
        return answer(request, signal);
      },
      onNetworkDecision: (decision) => decisions.push(decision),
    };
    return {
      requests,
      decisions,
      controller,
      reasons: () => decisions.map(({ source, reason }) => `${source} ${reason}`),
    };
  }

  it("decides about it, and no other client is asked", async () => {
    const host = await open();
    const one = recorder(({ host: name }) => (name === "127.0.0.2" ? "allow" : { deny: "operator" }));
    const other = recorder(() => "allow");
    const client = await host.connect(one.controller);
    const watcher = await host.connect(other.controller);
    const script = `${CURL} http://127.0.0.2:$PORT/; ${CURL} http://127.0.0.3:$PORT/`;
    const result = await run(client, { ...spec(script), processId: "p" });
    expect(result).toMatchObject({ stdout: { text: "200\n403\n" }, exited: { networkDenied: true } });
    const request = { processId: "p", protocol: "http", port: web.port, method: "GET" };
    expect(one.requests).toEqual([
      { ...request, host: "127.0.0.2" },
      { ...request, host: "127.0.0.3" },
    ]);
    expect(one.reasons()).toEqual(["controller allowed", "controller operator"]);
    await run(watcher, spec(`${CURL} http://127.0.0.3:$PORT/`));
    expect([one.requests.length, other.requests.length]).toEqual([2, 1]);
  });

  it("decides with the handler of the start, and is asked through a relay", async () => {
    const host = await open();
    const relay = await serve(await host.connect(), {
      auth: { kind: "token", token: TOKEN },
      listen: { host: "127.0.0.1", port: 0 },
    });
    undo.push(() => relay.close());
    const { connect } = await import("../../lib/connect.ts");
    const client = await connect(relay.url as string, { token: TOKEN, onNetworkRequest: () => "deny" });
    undo.push(() => client.close());
    const { controller, reasons } = recorder(() => "allow");
    const child = await (client as Backend).start(spec(`${CURL} http://127.0.0.2:$PORT/`), controller);
    expect(await outcome(child)).toMatchObject({ stdout: "200\n" });
    expect(reasons()).toEqual(["controller allowed"]);
  });

  it("and loses its connection refuses what is open, and decides again when it is back", async () => {
    const host = await open();
    const answers: NetworkHandler[] = [NEVER, () => "allow"];
    let ask: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      ask = resolve;
    });
    const { controller } = recorder((request, signal): NetworkAnswer | Promise<NetworkAnswer> => {
      ask();
      return answers.shift()?.(request, signal) ?? "deny";
    });
    const client = await host.connect(controller);
    const child = await client.start({
      ...spec(`${CURL} http://127.0.0.2:$PORT/; read line; ${CURL} http://127.0.0.2:$PORT/`),
      pipeStdin: true,
    });
    await asked;
    host.proxy.cut();
    await printed(child, "403\n");
    await child.write("go\n");
    expect(await outcome(child)).toMatchObject({ stdout: "403\n200\n" });
  });

  it("learns that its answer is not needed when the process is gone, and an answer that is none refuses", async () => {
    const host = await open();
    const signals: AbortSignal[] = [];
    const client = await host.connect({
      onNetworkRequest: (_request, signal) => {
        signals.push(signal);
        return signals.length === 1
          ? new Promise<never>((_, reject) => signal.addEventListener("abort", reject))
          : ("yes" as never);
      },
      onError: () => undefined,
    });
    await run(client, spec(`${CURL} -m 0.05 http://127.0.0.2:$PORT/ || true`));
    const result = await run(client, spec(`${CURL} http://127.0.0.2:$PORT/`));
    expect(result.stdout.text).toBe("403\n");
    expect(signals[0]?.aborted).toBe(true);
  });
});
