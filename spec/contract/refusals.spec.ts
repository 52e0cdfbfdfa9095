// Refused starts, because of their arguments or by the operating system. They leave nothing behind.
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import type { ProcessSpec } from "../../protocol/index.ts";
import { end, outcome } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { makeScratch } from "../support/scratch.ts";
import { describeBackends } from "./backends.ts";

const scratch = makeScratch();
const missing = scratch("missing");
const notExecutable = makeFile("not-executable", "#!/bin/sh\n", 0o644);
const orphanedScript = makeFile("orphaned-script", "#!/no/such/interpreter\n", 0o755);
const unknownFormat = makeFile("unknown-format", "this is neither a script nor a program\n", 0o755);
const folder = scratch("folder");
const loop = scratch("loop");
mkdirSync(folder);
symlinkSync(loop, loop);

function makeFile(name: string, content: string, mode: number): string {
  writeFileSync(scratch(name), content);
  chmodSync(scratch(name), mode);
  return scratch(name);
}

/** Specs that no type checker has seen, from JSON or plain JavaScript. */
const malformed: [what: string, field: string, spec: unknown][] = [
  ["no spec", "spec", null],
  ["no argv", "argv", {}],
  ["an empty argv", "argv", { argv: [] }],
  ["a command line instead of argv", "argv", { argv: "ls -l" }],
  ["a number in argv", "argv[1]", { argv: ["echo", 1] }],
  ["a NUL in an argument", "argv[1]", { argv: ["echo", "a\0b"] }],
  ["an empty program name", "argv[0]", { argv: [""] }],
  ["a misspelt field", "envpolicy", { argv: ["true"], envpolicy: { inherit: "none" } }],
  ["an empty cwd", "cwd", { argv: ["true"], cwd: "" }],
  ["a NUL in cwd", "cwd", { argv: ["true"], cwd: "/tmp\0" }],
  ["a relative cwd", "cwd", { argv: ["true"], cwd: "tmp" }],
  ["a number as a variable", "env.PORT", { argv: ["true"], env: { PORT: 80 } }],
  ["a NUL in a variable", "env.A", { argv: ["true"], env: { A: "\0" } }],
  ["a variable's name with =", "env", { argv: ["true"], env: { "A=B": "" } }],
  ["a variable without a name", "env", { argv: ["true"], env: { "": "x" } }],
  ["an unknown kind of inheritance", "envPolicy.inherit", { argv: ["true"], envPolicy: { inherit: "some" } }],
  ["a misspelt part of a policy", "envPolicy.only", { argv: ["true"], envPolicy: { inherit: "all", only: [] } }],
  ["a terminal without rows", "tty.rows", { argv: ["true"], tty: { rows: 0 } }],
  ["a terminal too wide", "tty.cols", { argv: ["true"], tty: { cols: 65_536 } }],
  ["a misspelt part of a terminal", "tty.columns", { argv: ["true"], tty: { columns: 80 } }],
  ["merge on a terminal", "merge", { argv: ["true"], tty: true, merge: true }],
  ["a timeout of zero", "timeoutMs", { argv: ["true"], timeoutMs: 0 }],
  ["a fraction of a millisecond", "timeoutMs", { argv: ["true"], timeoutMs: 0.5 }],
  ["a descriptor of stdio", "inheritFds[0]", { argv: ["true"], inheritFds: [2] }],
  ["a lone surrogate that stands for no byte", "argv[1]", { argv: ["true", "\ud800"] }],
  ["a number as a process id", "processId", { argv: ["true"], processId: 7 }],
  ["a process id too long", "processId", { argv: ["true"], processId: "x".repeat(8193) }],
  ["a label that is not a string", "labels.n", { argv: ["true"], labels: { n: 1 } }],
];

type Impossible = [what: string, kind: string, path: string, spec: ProcessSpec];

/** Starts whose failure is found before the spawn, with the kind and the path of the error. */
const foreseeable: Impossible[] = [
  ["a missing program", "not-found", missing, { argv: [missing] }],
  ["a program that is not in PATH", "not-found", "no-such-program", { argv: ["no-such-program"] }],
  ["a program that is only in the PATH of the host", "not-found", "node", { argv: ["node"], env: { PATH: folder } }],
  ["a program below a file", "not-found", `${unknownFormat}/x`, { argv: [`${unknownFormat}/x`] }],
  ["a file that is not executable", "not-executable", notExecutable, { argv: [notExecutable] }],
  ["a folder", "is-directory", folder, { argv: [folder] }],
  ["a folder found in PATH", "is-directory", folder, { argv: ["folder"], env: { PATH: scratch(".") } }],
  ["a missing working directory", "cwd-not-found", missing, { argv: ["true"], cwd: missing }],
  ["a file as working directory", "cwd-not-directory", unknownFormat, { argv: ["true"], cwd: unknownFormat }],
  [
    "a working directory below a file",
    "cwd-not-directory",
    `${unknownFormat}/x`,
    { argv: ["true"], cwd: `${unknownFormat}/x` },
  ],
  ["a working directory that cannot be reached", "cwd-not-accessible", loop, { argv: ["true"], cwd: loop }],
  ["an argument of 200 KB", "arg-too-long", "/bin/true", { argv: ["/bin/true", "x".repeat(200_000)] }],
  ["a variable of 200 KB", "arg-too-long", "/bin/true", { argv: ["/bin/true"], env: { BIG: "x".repeat(200_000) } }],
];

/** Starts that fail in the child, when it calls exec. */
const failingExecs: Impossible[] = [
  ["a script whose interpreter is missing", "interpreter-not-found", orphanedScript, { argv: [orphanedScript] }],
  [
    "arguments of 4 MB together",
    "arg-too-long",
    "/bin/true",
    { argv: ["/bin/true", ...Array.from({ length: 40 }, () => "x".repeat(100_000))] },
  ],
];

const unknownFormatProgram: Impossible = [
  "an executable file of unknown format",
  "bad-format",
  unknownFormat,
  { argv: [unknownFormat] },
];

describeBackends("refusals", (subject) => {
  const { supports, needs, start } = subject;

  it.each(malformed)("names the wrong field: %s", async (_what, field, spec) => {
    expect(await refusal(start(spec as ProcessSpec))).toEqual({ code: "INVALID_PARAMS", data: { field } });
  });

  needs("reportsSpawnFailures").each(foreseeable)(
    "reports the reason of a failed start: %s",
    async (_what, kind, path, spec) => {
      const refused = { code: "SPAWN_FAILED", data: { kind, path } };
      expect(await refusal(start(spec))).toEqual(refused);
      expect(await refusal(start({ ...spec, tty: true }))).toEqual(refused);
    },
  );

  const refusedByExec = supports.refusesUnknownFormats ? [...failingExecs, unknownFormatProgram] : failingExecs;
  const terminals = supports.execErrorsOnTty ? [false, true] : [false];

  needs("reportsSpawnFailures").each(refusedByExec)(
    "reports the reason of a failed exec: %s",
    async (_what, kind, path, spec) => {
      const refused = { code: "SPAWN_FAILED", data: { kind, path } };
      for (const tty of terminals) expect(await refusal(start({ ...spec, tty }))).toEqual(refused);
    },
  );

  needs("reportsSpawnFailures")("explains a failed start in one line that names the path", async () => {
    await expect(start({ argv: [orphanedScript] })).rejects.toThrow(
      new RegExp(`^${orphanedScript}.*/no/such/interpreter[^\n]*$`),
    );
    await expect(start({ argv: ["true"], cwd: missing })).rejects.toThrow(new RegExp(`^[^\n]*${missing}[^\n]*$`));
  });

  it("frees the id of a failed start at once", async () => {
    await refusal(start({ argv: [missing], processId: "again" }));
    expect(await refusal(subject.backend.attach("again"))).toEqual({ code: "PROCESS_UNKNOWN", data: {} });
    const process = await start({ argv: ["true"], processId: "again" });
    expect((await outcome(process)).exitCode).toBe(0);
  });

  it("accepts an argument and a variable of exactly 131,071 bytes", async () => {
    const argument = "x".repeat(131_071);
    const process = await start({
      argv: sh('printf %s "$1$V" | wc -c', argument),
      env: { V: argument.slice("V=".length) },
    });
    expect((await outcome(process)).stdout).toBe(`${131_071 + 131_069}\n`);
  });

  it("finds a relative program in the working directory of the child", async () => {
    const script = makeFile("relative", "#!/bin/sh\necho found\n", 0o755);
    const process = await start({ argv: ["./relative"], cwd: scratch(".") });
    expect([(await outcome(process)).stdout, script]).toEqual(["found\n", scratch("relative")]);
  });

  it("passes arguments literally, without a shell", async () => {
    const process = await start({ argv: ["echo", "$HOME", "; exit 3", "`id`", "a  b"] });
    expect(await outcome(process)).toMatchObject({ stdout: "$HOME ; exit 3 `id` a  b\n", exitCode: 0 });
  });

  it("checks the arguments of every call of a process", async () => {
    const process = await start({ argv: ["cat"], tty: true, env: { PATH: "/usr/bin:/bin" } });
    const fields = await Promise.all(
      [
        process.read({ afterSeq: -1 }),
        process.read({ maxBytes: 1.5 }),
        process.read({ waitMs: Number.POSITIVE_INFINITY }),
        process.write(7 as never),
        process.write("x", { writeId: "" }),
        process.write("x", { writeId: "x".repeat(257) }),
        process.resize({ rows: 0, cols: 80 }),
        process.signal("SIGNOT"),
        process.signal("SIGTERM", { scope: "everyone" as never }),
        process.terminate({ graceMs: -1 }),
        process.terminate({ scope: "everyone" as never }),
      ].map(refusal),
    );
    expect(fields.map(({ code, data }) => [code, data.field])).toEqual(
      [
        "afterSeq",
        "maxBytes",
        "waitMs",
        "chunk",
        "writeId",
        "writeId",
        "rows",
        "signal",
        "scope",
        "graceMs",
        "scope",
      ].map((field) => ["INVALID_PARAMS", field]),
    );
    expect(process.info.state).toBe("running");
    await process.terminate({ graceMs: 0 });
    await end(process);
    expect(await refusal(process.signal("SIGNOT"))).toEqual({ code: "INVALID_PARAMS", data: { field: "signal" } });
  });

  it("checks the position and the delivery of a reader before it reads", async () => {
    const process = await start({ argv: ["true"] });
    const refused = (field: string) => expect.objectContaining({ code: "INVALID_PARAMS", data: { field } });
    expect(() => process.events({ afterSeq: -1 })).toThrow(refused("afterSeq"));
    expect(() => process.iterate({ afterSeq: 0.5 })).toThrow(refused("afterSeq"));
    expect(() => process.iterate({ delivery: "all" as never })).toThrow(refused("delivery"));
    await end(process);
  });

  it("checks the arguments of every call of a backend, which goes on", async () => {
    const { backend } = subject;
    const long = { incarnation: "x".repeat(65) };
    const calls = [backend.attach(7 as never), backend.start({ argv: ["true"] }, long), backend.close({ graceMs: -1 })];
    expect((await Promise.all(calls.map(refusal))).map(({ code, data }) => [code, data.field])).toEqual(
      ["processId", "incarnation", "graceMs"].map((field) => ["INVALID_PARAMS", field]),
    );
    expect((await outcome(await start({ argv: ["true"] }))).exitCode).toBe(0);
  });

  if (!supports.inheritFds) {
    it("refuses bytes that are not UTF-8, which cannot be sent, and names the argument", async () => {
      const refused = { code: "INVALID_PARAMS", data: { field: "argv[1]" } };
      expect(await refusal(start({ argv: ["true", "a\udcff"] }))).toEqual(refused);
    });

    it("refuses inheritFds where it is not supported", async () => {
      const refused = { code: "UNSUPPORTED", data: { what: "inheritFds" } };
      expect(await refusal(start({ argv: ["true"], inheritFds: [3] }))).toEqual(refused);
    });
  }

  if (!supports.arg0OnTty) {
    it("refuses arg0 on a tty where it is not supported", async () => {
      const refused = { code: "UNSUPPORTED", data: { what: "arg0 on a tty" } };
      expect(await refusal(start({ argv: ["/bin/sh"], arg0: "other", tty: true }))).toEqual(refused);
    });
  }
});
