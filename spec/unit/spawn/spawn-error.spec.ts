// Why a program could not be started, with real files: the same reason for both spawners.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createSupervisor } from "../../../lib/local/supervisor.ts";
import { limits, type ProcessSpec } from "../../../protocol/index.ts";
import { refusal } from "../../support/refusal.ts";
import { makeScratch } from "../../support/scratch.ts";

const at = makeScratch();

beforeAll(() => {
  mkdirSync(at("folder"));
  const write = (name: string, text: string, mode: number) => {
    writeFileSync(at(name), text);
    chmodSync(at(name), mode);
  };
  write("text", "plain text", 0o644);
  write("no-format", "\0\x01\x02 no program", 0o755);
  write("windows-script", "#!/bin/sh\r\necho\r\n", 0o755);
  write("lost-interpreter", "#!/nowhere/interpreter -x\necho\n", 0o755);
});

const cases: [string, () => ProcessSpec, () => object][] = [
  [
    "a program that does not exist",
    () => ({ argv: [at("nothing")] }),
    () => ({ kind: "not-found", path: at("nothing") }),
  ],
  [
    "a name that is not in the child's PATH",
    () => ({ argv: ["nothing"], env: { PATH: at("folder") } }),
    () => ({ kind: "not-found", path: "nothing" }),
  ],
  [
    "a file without the right to run",
    () => ({ argv: [at("text")] }),
    () => ({ kind: "not-executable", path: at("text") }),
  ],
  ["a directory", () => ({ argv: [at("folder")] }), () => ({ kind: "is-directory", path: at("folder") })],
  [
    "a working directory that does not exist",
    () => ({ argv: ["/bin/true"], cwd: at("nowhere") }),
    () => ({ kind: "cwd-not-found", path: at("nowhere") }),
  ],
  [
    "a working directory that is a file",
    () => ({ argv: ["/bin/true"], cwd: at("text") }),
    () => ({ kind: "cwd-not-directory", path: at("text") }),
  ],
  [
    "a working directory below a file",
    () => ({ argv: ["/bin/true"], cwd: at("text/below") }),
    () => ({ kind: "cwd-not-directory", path: at("text/below") }),
  ],
  [
    "an argument longer than the system takes",
    () => ({ argv: ["/bin/true", "x".repeat(limits.argBytes)] }),
    () => ({ kind: "arg-too-long", path: "/bin/true" }),
  ],
  [
    "a variable longer than the system takes",
    () => ({ argv: ["/bin/true"], env: { LONG: "x".repeat(limits.argBytes) } }),
    () => ({ kind: "arg-too-long", path: "/bin/true" }),
  ],
];

describe.each(["posix", "portable"] as const)("a start by the %s spawner fails", (spawner) => {
  const supervisor = createSupervisor({ spawner });
  afterAll(() => supervisor.close());

  describe.each([false, true])("with tty %p", (tty) => {
    it.each(cases)("for %s", async (_name, spec, data) => {
      const failed = { code: "SPAWN_FAILED", data: data() };
      expect(await refusal(supervisor.start({ ...spec(), tty }))).toEqual(failed);
    });
  });
});

describe("a start by the posix spawner fails", () => {
  const supervisor = createSupervisor({ spawner: "posix" });
  afterAll(() => supervisor.close());

  it.each([false, true])("for a reason that only exec(2) finds, with tty %p", async (tty) => {
    const failure = async (name: string) => (await refusal(supervisor.start({ argv: [at(name)], tty }))).data;
    expect(await failure("no-format")).toEqual({ kind: "bad-format", path: at("no-format") });
    expect(await failure("lost-interpreter")).toEqual({ kind: "interpreter-not-found", path: at("lost-interpreter") });
  });

  it("for arguments that are too long together", async () => {
    const argv = ["/bin/true", ...Array.from({ length: 100 }, () => "x".repeat(limits.argBytes - 1))];
    expect((await refusal(supervisor.start({ argv }))).data).toEqual({ kind: "arg-too-long", path: "/bin/true" });
  });

  it("and frees the process id", async () => {
    await refusal(supervisor.start({ argv: [at("nothing")], processId: "again" }));
    const process = await supervisor.start({ argv: ["/bin/true"], processId: "again" });
    expect(process.id).toBe("again");
  });

  it("with a message that explains the line ends of Windows", async () => {
    const text = /needs the interpreter "\/bin\/sh\\r": its lines end as on Windows/;
    await expect(supervisor.start({ argv: [at("windows-script")] })).rejects.toThrow(text);
  });

  it("with a message that names the interpreter", async () => {
    await expect(supervisor.start({ argv: [at("lost-interpreter")] })).rejects.toThrow("/nowhere/interpreter");
  });
});

describe("a start by the portable spawner", () => {
  it("fails for a script without its interpreter", async () => {
    const supervisor = createSupervisor({ spawner: "portable" });
    const failed = await refusal(supervisor.start({ argv: [at("lost-interpreter")] }));
    await supervisor.close();
    expect(failed.data).toEqual({ kind: "interpreter-not-found", path: at("lost-interpreter") });
  });
});
