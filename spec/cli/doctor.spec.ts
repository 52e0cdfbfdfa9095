// What `execwire doctor` says of a machine where all works, and of one where something does not.
import { expect, it } from "@jest/globals";
import { describeSandbox } from "../sandbox/sandbox-host.ts";
import { makeScratch } from "../support/scratch.ts";
import { cliArgv, runCli, runProgram } from "../support/system-run.ts";

interface Shown {
  readonly name: string;
  readonly status: string;
  readonly found: string;
  readonly mend?: string;
}

const scratch = makeScratch();
const findingsOf = (stdout: string) => new Map((JSON.parse(stdout) as Shown[]).map((each) => [each.name, each]));

describeSandbox("execwire doctor", () => {
  it("finds that everything works, and exits with 0", async () => {
    const { code, stdout, stderr } = await runCli(["doctor", "--json"]);
    const findings = findingsOf(stdout);
    for (const name of ["node", "koffi", "terminals", "user namespaces", "bubblewrap", "runtime directory"])
      expect(findings.get(name)).toMatchObject({ status: expect.stringMatching(/^(ok|limited)$/) });
    expect([...findings.keys()]).toEqual(expect.arrayContaining(["cgroups", "limits"]));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it("in a sandbox, where there cannot be another, says why and exits with 1", async () => {
    const { code, stdout } = await runProgram(
      cliArgv("run", "--sandbox", "read-only", "--", ...cliArgv("doctor", "--json")),
    );
    expect(findingsOf(stdout).get("bubblewrap")).toMatchObject({
      status: "broken",
      found: expect.stringMatching(/max_user_namespaces is 0 or used up/),
    });
    expect(code).toBe(1);
  });
});

it("says which directory is used if the one in the environment cannot be", async () => {
  const env = { ...process.env, XDG_RUNTIME_DIR: scratch("missing") };
  const { stdout } = await runCli(["doctor"], { env });
  expect(stdout).toMatch(/^limited +runtime directory +XDG_RUNTIME_DIR is .*missing, which does not exist/m);
  expect(stdout).toMatch(/^ +to mend it +unset XDG_RUNTIME_DIR/m);
});

it("warns about few open files, as the shell gives them to a command", async () => {
  const script = 'ulimit -n 256; exec "$@"';
  const { stdout } = await runProgram(["/bin/sh", "-c", script, "sh", cliArgv()[1] as string, "doctor", "--json"]);
  expect(findingsOf(stdout).get("limits")).toMatchObject({
    status: "limited",
    mend: expect.stringContaining("ulimit -n"),
  });
});
