// Options and help: which arguments belong to us, which to the command, and what the help explains to a newcomer.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { runCli } from "../support/system-run.ts";

describe("execwire run", () => {
  it("sets variables, and passes on its own environment", async () => {
    const args = [
      "run",
      "--env",
      "A=1",
      "-e",
      "B=two words=x",
      "-e",
      "A=3",
      "--",
      "sh",
      "-c",
      `echo "$A,$B,$OWN_TOKEN"`,
    ];
    const ran = await runCli(args, { env: { ...process.env, OWN_TOKEN: "own" } });
    expect(ran).toEqual({ stdout: "3,two words=x,own\n", stderr: "", code: 0, signal: null });
  });

  it("runs the command in the directory that --cwd names, relative to its own", async () => {
    const [absolute, relative] = await Promise.all([
      runCli(["run", "--cwd", "/usr/bin", "--", "pwd"]),
      runCli(["run", "-C", "bin", "--", "pwd"], { cwd: "/usr" }),
    ]);
    expect([absolute?.stdout, relative?.stdout]).toEqual(["/usr/bin\n", "/usr/bin\n"]);
  });

  it("passes all arguments after the command to the command", async () => {
    const [plain, dashes] = await Promise.all([
      runCli(["run", "echo", "--help", "-t", "--timeout", "-e"]),
      runCli(["run", "--", "echo", "--", "--version"]),
    ]);
    expect([plain?.stdout, dashes?.stdout]).toEqual(["--help -t --timeout -e\n", "-- --version\n"]);
  });

  it.each(["auto", "posix", "portable"])("spawns with --spawner %s", async (spawner) => {
    const ran = await runCli(["run", "--spawner", spawner, "--", "sh", "-c", "echo hello; exit 4"]);
    expect(ran).toEqual({ stdout: "hello\n", stderr: "", code: 4, signal: null });
  });
});

describe("an address of a server", () => {
  it.each([
    ["127.0.0.1:7411", "ws://127.0.0.1:7411"],
    ["http://example.com:1", "ws://example.com:1"],
    ["https://example.com", "wss://example.com"],
    ["/run/exec.sock", "unix:/run/exec.sock"],
    ["", "ws://HOST:PORT"],
  ])("that has no known beginning is wrong usage, with a suggestion: %j", async (url, suggestion) => {
    const ran = await runCli(["ps", "--url", url]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain(`Did you mean ${suggestion}?`);
    if (url === "") return;
    const env = { ...process.env, EXECWIRE_URL: url };
    expect(await runCli(["ps"], { env })).toMatchObject({ code: 2, stderr: expect.stringContaining(suggestion) });
  });
});

describe("a duration", () => {
  it.each(["3000000", "Infinity", "NaN", "-1", "", "1s"])(
    "of %j seconds is refused with the range",
    async (seconds) => {
      const ran = await runCli(["run", "--timeout", seconds, "--", "true"]);
      expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("from 0 to 2147483 (24 days)") });
    },
  );
});

describe("the help of execwire", () => {
  it("of `run` explains its options and exit codes, with examples", async () => {
    const { stdout, stderr, code } = await runCli(["run", "--help"]);
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    for (const option of ["--tty", "--interactive", "--timeout", "--grace", "--env", "--cwd"]) {
      expect(stdout).toContain(option);
    }
    for (const exitCode of ["128+n", "124", "126", "127", "125"]) expect(stdout).toContain(exitCode);
    expect(stdout).toContain("execwire run -t -- bash");
  });

  it("has examples that do what it says", async () => {
    const { stdout } = await runCli(["run", "--help"]);
    const example = stdout.match(/^ +execwire (run -- sh -c '(.*)') .*exit code (\d)$/m);
    const ran = await runCli(["run", "--", "sh", "-c", example?.[2] as string]);
    expect(ran).toEqual({ stdout: "out\n", stderr: "err\n", code: Number(example?.[3]), signal: null });
  });

  it("of the program names its commands, and is shown on stderr when none is given", async () => {
    const [asked, bare] = await Promise.all([runCli(["--help"]), runCli([])]);
    expect(asked).toMatchObject({ code: 0, stderr: "" });
    expect(asked?.stdout).toContain("run");
    expect(bare).toMatchObject({ code: 2, stdout: "" });
    expect(bare?.stderr).toContain("Usage: execwire");
  });

  it("prints the version of the package", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(await runCli(["--version"])).toEqual({ stdout: `${version}\n`, stderr: "", code: 0, signal: null });
  });
});
