// A proxy for a process without a sandbox: advice, which a process may follow.
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeEach, describe, expect, it } from "@jest/globals";
import { run } from "../../lib/exec/run/run.ts";
import { createSupervisor } from "../../lib/local/supervisor.ts";
import type { Process } from "../../lib/process/process.ts";
import type { NetworkAnswer, NetworkDecision } from "../../protocol/index.ts";
import { end, exitOf, printed } from "../support/outcome.ts";
import { refusal } from "../support/refusal.ts";
import { makeWebServer } from "./web-server.ts";

describe("a process with a proxy and without a sandbox", () => {
  const web = makeWebServer();
  const decisions: NetworkDecision[] = [];
  let answer: () => NetworkAnswer | Promise<NetworkAnswer> = () => "deny";
  const supervisor = createSupervisor({
    onNetworkRequest: () => answer(),
    onNetworkDecision: (decision) => decisions.push(decision),
  });
  afterAll(() => supervisor.close({ graceMs: 0 }));
  beforeEach(() => {
    decisions.length = 0;
  });
  const networkProxy = { mode: "managed", allow: ["127.0.0.2"] } as const;
  const start = (script: string) =>
    supervisor.start({ argv: ["/bin/sh", "-c", script], env: { PATH: "/usr/bin:/bin" }, networkProxy });
  const portOf = async (process: Process) => Number((await printed(process, /:\d+\n/)).match(/:(\d+)\n/)?.[1]);
  /** The first line of the answer to a CONNECT. */
  const tunnelTo = async (port: number, target: string) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
    const [chunk] = await once(socket, "data");
    socket.destroy();
    return String(chunk).split("\r\n")[0];
  };

  it("finds it in its variables, and is judged", async () => {
    const env = { PATH: "/usr/bin:/bin", PORT: String(web.port), https_proxy: "http://elsewhere.test" };
    const script = "curl -s http://127.0.0.2:$PORT/; curl -s -o /dev/null -w '%{http_code}' https://other.test/";
    const result = await run(supervisor, { argv: ["/bin/sh", "-c", script], env, networkProxy });
    expect(result.stdout.text).toBe("served 0000");
    expect(result.exited).toMatchObject({ networkDenied: true, sandboxDenied: false });
    expect(decisions.map(({ protocol, host, reason }) => [protocol, host, reason])).toEqual([
      ["http", "127.0.0.2", "allowed"],
      ["connect", "other.test", "not_allowed"],
    ]);
  });

  it("keeps it after its exit, until its streams are closed", async () => {
    const child = await start('echo "$HTTP_PROXY"; sleep 1000 & echo $!');
    const port = await portOf(child);
    await exitOf(child);
    expect(await tunnelTo(port, "8.8.8.8:443")).toBe("HTTP/1.1 403 Forbidden");
    expect(decisions).toMatchObject([{ host: "8.8.8.8", protocol: "connect", decision: "deny" }]);
    await child.terminate({ graceMs: 0, scope: "tree" });
    await end(child);
    const [error] = await once(connect(port, "127.0.0.1"), "error");
    expect(error).toMatchObject({ code: "ECONNREFUSED" });
  });

  it("is refused what waits for a decision when it is terminated, also after its exit", async () => {
    const child = await start('echo "$HTTP_PROXY"; sleep 1000 & echo $!');
    const port = await portOf(child);
    await exitOf(child);
    const asked = new Promise<void>((resolve) => {
      answer = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
    const refused = tunnelTo(port, "8.8.8.8:443");
    await asked;
    await child.terminate({ graceMs: 0, scope: "tree" });
    await Promise.race([refused, end(child)]);
    expect(decisions).toMatchObject([{ host: "8.8.8.8", source: "host", reason: "process_ending" }]);
  });

  it("cannot have a sandbox too, whose network says what is meant", async () => {
    const sandbox = { files: [{ path: { named: "root" }, access: "read" }] } as const;
    const start = supervisor.start({ argv: ["true"], networkProxy, sandbox });
    expect(await refusal(start)).toEqual({ code: "INVALID_PARAMS", data: { field: "networkProxy" } });
    const typo = { mode: "managed", allow: ["http://a.test"] } as const;
    expect(await refusal(supervisor.start({ argv: ["true"], networkProxy: typo }))).toEqual({
      code: "INVALID_PARAMS",
      data: { field: "networkProxy.allow[0]" },
    });
  });
});
