// `execwire run` over a connection that breaks: it reconnects and loses nothing, or reports that the outcome is unknown.
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createSupervisor } from "../../lib/index.ts";
import { sha256 } from "../support/digest.ts";
import { outcome, printed } from "../support/outcome.ts";
import { isAlive, isPending } from "../support/system-facts.ts";
import { cliArgv } from "../support/system-run.ts";
import { type HostedServer, makeSurroundings } from "../support/system-server.ts";
import { settled } from "../support/system-wait.ts";
import { WireProxy } from "../support/wire-proxy.ts";

const user = makeSurroundings();

describe("execwire run over a connection that is cut again and again", () => {
  const recovering = "execwire: connection lost, reconnecting (press Ctrl-C three times to give up)";
  let server: HostedServer;
  let proxy: WireProxy;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    server = await user.serve();
    proxy = await WireProxy.to(server.url);
    env = { EXECWIRE_TOKEN_FILE: user.file(`token-${server.child.pid}`) };
  });
  afterAll(() => proxy.close());

  it("loses no byte of output or input, and reports each reconnect once", async () => {
    const input = Buffer.alloc(5_000_000, "0123456789abcdef");
    proxy.cutAfter(() => 2_000_000);
    const ran = await user.cli(["run", "--url", proxy.url, "-i", "--", "sh", "-c", "cat; exit 3"], { input, env });
    proxy.cutAfter(undefined);
    const lines = ran.stderr.trim().split("\n");
    expect({ code: ran.code, output: sha256(Buffer.from(ran.stdout)) }).toEqual({ code: 3, output: sha256(input) });
    expect(proxy.cuts).toBeGreaterThanOrEqual(4);
    expect(lines).toEqual(Array.from({ length: proxy.cuts }, () => [recovering, "execwire: reconnected"]).flat());
  });
});

describe("execwire run on a server that is killed", () => {
  it("reports that it tries to reconnect, then gives up with 69 and invents no exit code", async () => {
    const doomed = await user.serve();
    const env = { EXECWIRE_TOKEN_FILE: user.file(`token-${doomed.child.pid}`) };
    const ran = await user.cli(
      ["run", "--url", doomed.url, "--recovery", "1", "--", "sh", "-c", "echo $$; exec sleep 300"],
      {
        env,
        onStart: (child) => child.stdout?.once("data", () => doomed.child.kill("SIGKILL")),
      },
    );
    const pid = Number(ran.stdout);
    if (isAlive(pid)) process.kill(pid, "SIGKILL");
    expect({ code: ran.code, lines: ran.stderr.split("\n") }).toEqual({
      code: 69,
      lines: [
        "execwire: connection lost, reconnecting (press Ctrl-C three times to give up)",
        expect.stringMatching(
          /^execwire: .* did not come back within 1 s; the process may still be running, check with: /,
        ),
        "",
      ],
    });
  });

  it("can be ended with three signals while it tries to reconnect", async () => {
    const doomed = await user.serve();
    const env = { EXECWIRE_TOKEN_FILE: user.file(`token-${doomed.child.pid}`) };
    const ran = await user.cli(["run", "--url", doomed.url, "--", "sh", "-c", "echo $$; exec sleep 300"], {
      env,
      onStart: (child) => {
        child.stdout?.once("data", () => doomed.child.kill("SIGKILL"));
        child.stderr?.once("data", async () => {
          for (let count = 0; count < 3; count += 1) {
            child.kill("SIGINT");
            await settled(
              () => isPending(child.pid as number, "SIGINT"),
              (pending) => !pending,
            );
          }
        });
      },
    });
    const pid = Number(ran.stdout);
    if (isAlive(pid)) process.kill(pid, "SIGKILL");
    expect(ran.code).toBe(69);
    expect(ran.stderr).toMatch(/\nexecwire: interrupted while the connection was lost; /);
  });

  it("can be ended with three Ctrl-C in a raw terminal too, where they are keys", async () => {
    const doomed = await user.serve();
    const supervisor = createSupervisor();
    const outer = await supervisor.start({
      argv: cliArgv("run", "--url", doomed.url, "-t", "--", "sh", "-c", "echo $$ up; exec sleep 300"),
      env: { EXECWIRE_TOKEN_FILE: user.file(`token-${doomed.child.pid}`) },
      envPolicy: { inherit: "all" },
      tty: true,
    });
    const pid = Number.parseInt(await printed(outer, /up\r*\n/), 10);
    doomed.child.kill("SIGKILL");
    await printed(outer, /reconnecting/);
    await outer.write("\x03\x03\x03");
    expect(await outcome(outer)).toMatchObject({
      pty: expect.stringContaining("interrupted while the connection was lost"),
      exitCode: 69,
    });
    await supervisor.close();
    if (isAlive(pid)) process.kill(pid, "SIGKILL");
  });
});
