// A managed network, with real commands in a real sandbox: each reaches its proxy, and nothing else.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, expect, it } from "@jest/globals";
import type { RunResult } from "../../lib/exec/run/result.ts";
import { run } from "../../lib/exec/run/run.ts";
import { createSupervisor, type Supervisor } from "../../lib/local/supervisor.ts";
import type {
  ManagedNetwork,
  NetworkAnswer,
  NetworkDecision,
  NetworkRequest,
  SandboxPolicy,
} from "../../protocol/index.ts";
import { describeSandbox, READ_ONLY } from "../sandbox/sandbox-host.ts";
import { outcome, printed } from "../support/outcome.ts";
import { refusal } from "../support/refusal.ts";
import { makeScratch } from "../support/scratch.ts";
import { settled } from "../support/system-wait.ts";
import { makeWebServer } from "./web-server.ts";

/** Answers that a spec sets. */
type Answer = (request: NetworkRequest, signal: AbortSignal) => NetworkAnswer | Promise<NetworkAnswer>;

describeSandbox("a command with a managed network", () => {
  const web = makeWebServer();
  const scratch = makeScratch();
  const decisions: NetworkDecision[] = [];
  let answer: Answer = () => "deny";
  const supervisor: Supervisor = createSupervisor({
    onNetworkRequest: (request, signal) => answer(request, signal),
    onNetworkDecision: (decision) => decisions.push(decision),
  });
  afterAll(() => supervisor.close({ graceMs: 0 }));
  beforeEach(() => {
    decisions.length = 0;
  });

  const spec = (script: string, network: Omit<ManagedNetwork, "mode">, processId?: string) => ({
    argv: ["/bin/sh", "-c", script],
    env: { PATH: "/usr/bin:/bin", PORT: String(web.port) },
    ...(processId === undefined ? {} : { processId }),
    sandbox: { ...READ_ONLY, network: { mode: "managed" as const, ...network } },
  });
  const sh = (script: string, network: Omit<ManagedNetwork, "mode">, processId?: string): Promise<RunResult> =>
    run(supervisor, spec(script, network, processId));
  const reasons = () => decisions.map(({ decision, source, reason }) => `${decision} ${source} ${reason}`);

  it("reaches the allowed host by HTTP, CONNECT and SOCKS, on one port", async () => {
    const script = `curl -s http://127.0.0.2:$PORT/; curl -sp http://127.0.0.2:$PORT/
      curl -s --proxy $ALL_PROXY http://127.0.0.2:$PORT/; curl -s --proxy socks5://127.0.0.1:3128 http://127.0.0.2:$PORT/`;
    const result = await sh(script, { allow: ["127.0.0.2"] });
    expect(result).toMatchObject({ exitCode: 0, stdout: { text: "served 0".repeat(4) } });
    expect(decisions.map(({ protocol, method }) => [protocol, method])).toEqual([
      ["http", "GET"],
      ["connect", "CONNECT"],
      ["socks5", undefined],
      ["socks5", undefined],
    ]);
    expect(result.exited).not.toHaveProperty("networkDenied");
  });

  it("of eight at once, reaches only its own host, and each decision names its process", async () => {
    const hosts = [2, 3, 4, 5, 6, 7, 8, 9].map((last) => `127.0.0.${last}`);
    const script = `for i in 2 3 4 5 6 7 8 9; do curl -s -o /dev/null -w '%{http_code} ' http://127.0.0.$i:$PORT/; done`;
    const results = await Promise.all(hosts.map((host) => sh(script, { allow: [host] }, `only ${host}`)));
    const expected = hosts.map((host) => `${hosts.map((each) => (each === host ? "200" : "403")).join(" ")} `);
    expect(results.map(({ stdout }) => stdout.text)).toEqual(expected);
    expect(decisions).toHaveLength(64);
    const allowed = decisions.filter(({ decision }) => decision === "allow");
    expect(allowed.map(({ processId }) => processId).sort()).toEqual(hosts.map((host) => `only ${host}`));
    for (const { processId, host } of allowed) expect(processId).toBe(`only ${host}`);
  });

  it("reaches nothing without the proxy: neither the host's loopback nor another network", async () => {
    const script = "curl -s --noproxy '*' http://127.0.0.1:$PORT/; curl -s --noproxy '*' -m 5 http://192.0.2.1/";
    const result = await sh(script, { allow: ["*"], allowLocal: true });
    expect(result).toMatchObject({ exitCode: 7, stdout: { text: "" } });
    expect(decisions).toEqual([]);
  });

  it("reaches a server of its own on its loopback, without the proxy", async () => {
    const script = `exec 3<>/dev/udp/127.0.0.1/9; python3 -c '
import socket
s = socket.create_server(("127.0.0.1", 8000)); c = socket.create_connection(("127.0.0.1", 8000)); print("own", end="")'`;
    const result = await run(supervisor, { ...spec("", {}), argv: ["/bin/bash", "-c", script] });
    expect(result.stdout.text).toBe("own");
  });

  it("does what the controller decides, and is refused when it does not answer", async () => {
    const code = "curl -s -o /dev/null -w '%{http_code} ' --proxy http://127.0.0.1:3128";
    answer = ({ host }) =>
      host === "allowed.test" ? "allow" : host === "never.test" ? new Promise(() => undefined) : { deny: "operator" };
    const script = `for host in denied.test never.test 10.1.2.3 169.254.169.254; do ${code} http://$host:$PORT/; done`;
    const result = await sh(script, { decisionTimeoutMs: 50 });
    expect(result.stdout.text).toBe("403 403 403 403 ");
    expect(reasons()).toEqual([
      "deny controller operator",
      "deny controller decision_timeout",
      "deny policy not_allowed_local",
      "deny policy not_allowed_local",
    ]);
    expect(result.exited).toMatchObject({ exitCode: 0, networkDenied: true, sandboxDenied: false });
    expect(result.networkDenied).toBe(true);
    const process = await supervisor.attach(result.processId);
    expect(await process.read()).toMatchObject({ exited: true, networkDenied: true });
    answer = () => "allow";
    expect((await sh(`${code} http://127.0.0.2:$PORT/`, { allowLocal: true })).stdout.text).toBe("200 ");
  });

  it("cannot name another site in the Host header, and each request of a connection is judged", async () => {
    web.seen.splice(0);
    const script = `curl -s -H 'Host: other.test' http://127.0.0.2:$PORT/a http://127.0.0.3:$PORT/b http://127.0.0.2:$PORT/c`;
    const result = await sh(script, { allow: ["127.0.0.2"] });
    expect(web.seen.map(({ host, url }) => `${host}${url}`)).toEqual([
      `127.0.0.2:${web.port}/a`,
      `127.0.0.2:${web.port}/c`,
    ]);
    expect(result.stdout.text).toContain("refuses 127.0.0.3 (not_allowed_local)");
    expect(decisions).toHaveLength(3);
  });

  it("sends a body of 3 MB", async () => {
    const script = "head -c 3000000 /dev/zero | curl -s --data-binary @- http://127.0.0.2:$PORT/";
    expect((await sh(script, { allow: ["127.0.0.2"] })).stdout.text).toBe("served 3000000");
  });

  it("is no longer waiting for a decision once it is told to end", async () => {
    let signal: AbortSignal | undefined;
    const asked = new Promise<void>((resolve) => {
      answer = (_request, given) => {
        signal = given;
        resolve();
        return new Promise(() => undefined);
      };
    });
    const script = `trap 'echo ending' TERM; curl -s -o /dev/null -w '%{http_code}\\n' http://asked.test/ & wait; wait`;
    const child = await supervisor.start(spec(script, {}));
    await asked;
    await child.terminate();
    expect(await outcome(child)).toMatchObject({ stdout: expect.stringContaining("ending") });
    expect(signal?.aborted).toBe(true);
    expect(reasons()).toEqual(["deny host process_ending"]);
  });

  it("that survives a signal is judged as before", async () => {
    answer = () => "allow";
    const script = "trap 'curl -s http://127.0.0.2:$PORT/; exit 0' INT TERM; echo ready; read line; read line";
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const child = await supervisor.start({ ...spec(script, { allowLocal: true }), pipeStdin: true });
      await printed(child, "ready");
      await child.signal(signal);
      expect(await outcome(child)).toMatchObject({ stdout: "ready\nserved 0", exitCode: 0 });
    }
  });

  it("leaves no descriptor of its network behind, also when it was cancelled or could not run", async () => {
    const network = { allow: ["127.0.0.2"] };
    const open = () => readdirSync("/proc/self/fd").length;
    await sh("true", network);
    const before = open();
    for (let round = 0; round < 5; round += 1) {
      await sh("curl -s http://127.0.0.2:$PORT/", network);
      const refused = refusal(supervisor.start({ ...spec("true", network), cwd: "/no/such/directory" }));
      expect(await refused).toMatchObject({ code: "SPAWN_FAILED" });
      const cancelled = new AbortController();
      const start = supervisor.start(spec("sleep 1000", network), { signal: cancelled.signal });
      cancelled.abort("cancelled");
      await expect(start).rejects.toBe("cancelled");
    }
    expect(await settled(open, (count) => count <= before)).toBeLessThanOrEqual(before);
  });

  it("keeps the proxy when its shell's start-up files name another, and passes none on by their snapshot", async () => {
    const home = scratch("home");
    mkdirSync(home);
    writeFileSync(join(home, ".profile"), `export http_proxy=http://elsewhere.test FROM_PROFILE=yes`);
    const base = {
      argv: ["/bin/bash", "-lc", 'printf "%s" "$FROM_PROFILE $http_proxy $HTTPS_PROXY"'],
      env: { PATH: "/usr/bin:/bin", HOME: home },
    };
    const managed = { ...READ_ONLY, network: { mode: "managed" as const } };
    const texts = async (scope: string, sandboxes: readonly (SandboxPolicy | undefined)[]) => {
      const printed: string[] = [];
      for (const sandbox of sandboxes) {
        const result = await run(supervisor, { ...base, shellSnapshot: { scope }, ...(sandbox && { sandbox }) });
        printed.push(result.stdout.text);
      }
      return printed;
    };
    const inside = "yes http://127.0.0.1:3128 http://127.0.0.1:3128";
    const outside = "yes http://elsewhere.test ";
    expect(await texts("managed first", [managed, managed, undefined])).toEqual([inside, inside, outside]);
    expect(await texts("managed last", [undefined, managed])).toEqual([outside, inside]);
  });

  it("gets the variables of the proxy once, whatever its environment has", async () => {
    const env = { PATH: "/usr/bin:/bin", http_proxy: "http://elsewhere.test", NO_PROXY: "*" };
    const result = await run(supervisor, { ...spec("env", { allow: ["localhost"] }), env });
    const lines = result.stdout.text.split("\n").filter((line) => /^(http|no)_proxy=/i.test(line));
    expect(lines.sort()).toEqual([
      "HTTP_PROXY=http://127.0.0.1:3128",
      "NO_PROXY=127.0.0.1,::1",
      "http_proxy=http://127.0.0.1:3128",
      "no_proxy=127.0.0.1,::1",
    ]);
  });
});
