// `execwire run --network managed`: which hosts a command reaches, here and on a server, and what is said about refusals.
import { expect, it } from "@jest/globals";
import { makeWebServer } from "../network/web-server.ts";
import { describeSandbox } from "../sandbox/sandbox-host.ts";
import { makeSurroundings } from "../support/system-server.ts";

describeSandbox("execwire run --network managed", () => {
  const user = makeSurroundings();
  const web = makeWebServer();
  const run = (options: readonly string[], ...command: string[]) =>
    user.cli(["run", "--sandbox", "read-only", ...options, "--", ...command]);
  const curl = (host: string) => ["curl", "-s", `http://${host}:${web.port}/`];

  it.each([
    ["here", false],
    ["on a server", true],
  ])("reaches the hosts of --allow-host only, and names the others: %s", async (_where, isRemote) => {
    const options = isRemote ? ["-C", "/", "--url", (await user.serve([])).url] : [];
    const managed = [...options, "--network", "managed", "--allow-host", "127.0.0.2"];
    expect(await run(managed, ...curl("127.0.0.2"))).toMatchObject({ stdout: "served 0", stderr: "", code: 0 });
    expect(await run(managed, ...curl("127.0.0.3"), ...curl("127.0.0.3").slice(2))).toMatchObject({
      stdout: expect.stringContaining("refuses 127.0.0.3 (not_allowed_local)"),
      stderr: expect.stringMatching(
        /^execwire: the network policy refused 127.0.0.3 \(not_allowed_local\); --allow-local /,
      ),
      code: 0,
    });
  });

  it("never reaches a host of --deny-host, and local ones by a pattern with --allow-local", async () => {
    const local = ["--network", "managed", "--allow-host", "*", "--allow-local", "--deny-host", "127.0.0.3"];
    expect(await run(local, ...curl("127.0.0.2"))).toMatchObject({ stdout: "served 0", code: 0 });
    expect(await run(local, ...curl("127.0.0.3"))).toMatchObject({ stdout: expect.stringContaining("(denied)") });
  });

  it.each([
    [["--allow-host", "a.test"], "need --network managed", 2],
    [["--network", "managed", "--allow-host", "http://a.test"], "without a port", 125],
  ])("refuses %p", async (options, message, code) => {
    expect(await run(options, "true")).toMatchObject({ stderr: expect.stringContaining(message), code });
  });
});
