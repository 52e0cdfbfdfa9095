// What comes from outside is refused before anything acts on it, and the refusal names the field.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { checkInteger, checkSize, checkSpec, checkWrite, limits } from "../../protocol/index.ts";
import { runs } from "../support/fuzz.ts";

const OK = { argv: ["true"] };

const full = {
  argv: ["sh", "-c", "", "ünïcödé"],
  processId: "p".repeat(limits.processIdChars),
  cwd: "/tmp",
  env: { A: "", B: "=", "with space": "ok" },
  envPolicy: { inherit: "core", ignoreDefaultExcludes: true, exclude: ["A*"], set: { C: "1" }, includeOnly: [] },
  arg0: "",
  tty: { rows: 1, cols: 65_535, echo: false, raw: true },
  pipeStdin: true,
  merge: false,
  timeoutMs: 2 ** 31 - 1,
  inheritFds: [3, 9],
  labels: { owner: "me" },
};

describe("a process spec", () => {
  it.each([
    ["the smallest", OK],
    ["the largest", full],
    ["with a plain tty", { ...OK, tty: true }],
    ["merged, with tty: false", { ...OK, merge: true, tty: false }],
    ["with fields that are undefined", { ...OK, cwd: undefined, env: undefined, tty: undefined, timeoutMs: undefined }],
  ])("is accepted: %s", (_name, spec) => {
    expect(checkSpec(spec)).toBeUndefined();
  });

  it.each([
    ["spec", null],
    ["spec", undefined],
    ["spec", []],
    ["spec", "true"],
    ["argv", {}],
    ["argv", { argv: "true" }],
    ["argv", { argv: [] }],
    ["argv[0]", { argv: [""] }],
    ["argv[1]", { argv: ["sh", 1] }],
    ["argv[1]", { argv: ["sh", "nul\0"] }],
    ["argv[0]", { argv: [undefined, "sh"] }],
    ["envpolicy", { ...OK, envpolicy: {} }],
    ["__proto__", JSON.parse('{"argv": ["true"], "__proto__": {}}')],
    ["processId", { ...OK, processId: 1 }],
    ["processId", { ...OK, processId: "p".repeat(limits.processIdChars + 1) }],
    ["processId", { ...OK, processId: "nul\0" }],
    ["cwd", { ...OK, cwd: "" }],
    ["cwd", { ...OK, cwd: "/nul\0" }],
    ["cwd", { ...OK, cwd: null }],
    ["arg0", { ...OK, arg0: 1 }],
    ["arg0", { ...OK, arg0: "nul\0" }],
    ["env", { ...OK, env: [] }],
    ["env.A", { ...OK, env: { A: 1 } }],
    ["env.A", { ...OK, env: { A: "nul\0" } }],
    ["env", { ...OK, env: { "": "x" } }],
    ["env", { ...OK, env: { "A=B": "x" } }],
    ["env", { ...OK, env: { "A\0": "x" } }],
    ["envPolicy", { ...OK, envPolicy: "all" }],
    ["envPolicy.inherit", { ...OK, envPolicy: {} }],
    ["envPolicy.inherit", { ...OK, envPolicy: { inherit: "ALL" } }],
    ["envPolicy.only", { ...OK, envPolicy: { inherit: "all", only: [] } }],
    ["envPolicy.ignoreDefaultExcludes", { ...OK, envPolicy: { inherit: "all", ignoreDefaultExcludes: 1 } }],
    ["envPolicy.exclude", { ...OK, envPolicy: { inherit: "all", exclude: "A" } }],
    ["envPolicy.exclude[1]", { ...OK, envPolicy: { inherit: "all", exclude: ["A", 1] } }],
    ["envPolicy.includeOnly[0]", { ...OK, envPolicy: { inherit: "all", includeOnly: [null] } }],
    ["envPolicy.set", { ...OK, envPolicy: { inherit: "all", set: { "=": "x" } } }],
    ["envPolicy.set.A", { ...OK, envPolicy: { inherit: "all", set: { A: true } } }],
    ["tty", { ...OK, tty: "yes" }],
    ["tty.rows", { ...OK, tty: { rows: 0, cols: 80 } }],
    ["tty.cols", { ...OK, tty: { rows: 24, cols: 65_536 } }],
    ["tty.rows", { ...OK, tty: { rows: 1.5 } }],
    ["tty.echo", { ...OK, tty: { echo: "no" } }],
    ["tty.raw", { ...OK, tty: { raw: 1 } }],
    ["tty.width", { ...OK, tty: { width: 80 } }],
    ["pipeStdin", { ...OK, pipeStdin: "true" }],
    ["merge", { ...OK, merge: 1 }],
    ["merge", { ...OK, merge: true, tty: {} }],
    ["timeoutMs", { ...OK, timeoutMs: 0 }],
    ["timeoutMs", { ...OK, timeoutMs: 2 ** 31 }],
    ["timeoutMs", { ...OK, timeoutMs: "1000" }],
    ["timeoutMs", { ...OK, timeoutMs: Number.NaN }],
    ["inheritFds", { ...OK, inheritFds: 3 }],
    ["inheritFds[0]", { ...OK, inheritFds: [2] }],
    ["inheritFds[1]", { ...OK, inheritFds: [3, "4"] }],
    ["inheritFds", { ...OK, inheritFds: [0], tty: true }],
    ["inheritFds", { ...OK, inheritFds: [0, 3], pipeStdin: true }],
    ["argv[1]", { argv: ["true", "\udcff"] }],
    ["env", { ...OK, env: { "\udcff": "x" } }],
    ["cwd", { ...OK, cwd: "/\udcff" }],
    ["labels.owner", { ...OK, labels: { owner: "\ud800" } }],
    ["labels", { ...OK, labels: "me" }],
    ["labels.owner", { ...OK, labels: { owner: 1 } }],
  ])("is refused for its %s: %j", (field, spec) => {
    expect(checkSpec(spec, limits)).toEqual({ field, message: expect.stringMatching(/\S/) });
  });

  it("may have bytes that are not UTF-8 for a program of this machine, and no other lone surrogates", () => {
    const here = { ...limits, rawBytes: true };
    const bytes = "caf\udce9 \u{1f600}";
    expect(checkSpec({ argv: ["true", bytes], cwd: `/${bytes}`, arg0: bytes, env: { [bytes]: bytes } }, here)).toBe(
      undefined,
    );
    expect(checkSpec({ argv: ["true", "\udc7f"] }, here)?.field).toBe("argv[1]");
    expect(checkSpec({ argv: ["true"], env: { A: "\ud83d" } }, here)?.field).toBe("env.A");
    expect(checkSpec({ argv: ["true"], labels: { a: bytes } }, here)?.field).toBe("labels.a");
  });

  it("is judged without an exception, whatever it is", () => {
    const value = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
      withSparseArray: true,
      withObjectString: true,
    });
    const names = fc.constantFrom(...Object.keys(full), "extra");
    const nearly = fc.dictionary(names, value).map((fields) => ({ ...OK, ...fields }));
    const replaced = fc.tuple(names, value).map(([name, wrong]) => ({ ...full, [name]: wrong }));
    fc.assert(
      fc.property(fc.oneof(value, fc.jsonValue(), nearly, replaced), (spec) => {
        const found = checkSpec(spec);
        if (found) expect(found).toEqual({ field: expect.any(String), message: expect.any(String) });
      }),
      runs(2000),
    );
  });

  it("does not show a value that may be secret", () => {
    const found = [
      checkSpec({ ...OK, env: { TOKEN: "hunter2\0" } }),
      checkSpec({ ...OK, env: { TOKEN: ["hunter2"] } }),
    ];
    expect(JSON.stringify(found)).not.toContain("hunter2");
  });
});

describe("a terminal size", () => {
  it.each([
    [undefined, { rows: 1, cols: 65_535 }],
    ["size", null],
    ["size", [24, 80]],
    ["rows", {}],
    ["rows", { rows: 0, cols: 80 }],
    ["cols", { rows: 24 }],
    ["cols", { rows: 24, cols: "80" }],
    ["cols", { rows: 24, cols: 65_536 }],
  ])("has the problem %p: %j", (field, size) => {
    expect(checkSize(size)?.field).toBe(field);
  });
});

describe("a write id", () => {
  it.each([
    ["w", true],
    ["w".repeat(limits.writeIdChars), true],
    ["w".repeat(limits.writeIdChars + 1), false],
    ["", false],
    ["nul\0", false],
    [1, false],
    [null, false],
    [undefined, true],
  ])("%j is accepted: %p", (writeId, accepted) => {
    expect(checkWrite({ chunk: new Uint8Array(), writeId }, limits.writeIdChars)).toEqual(
      accepted ? undefined : { field: "writeId", message: expect.any(String) },
    );
  });
});

describe("an integer argument", () => {
  it.each([1, 5, 10])("%p is accepted from 1 to 10", (value) => {
    expect(checkInteger("n", value, 1, 10)).toBeUndefined();
  });

  it.each([0, 11, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "5", 5n, null, undefined, Symbol("5")])(
    "%p is refused from 1 to 10",
    (value) => {
      expect(checkInteger("n", value, 1, 10)).toEqual({ field: "n", message: expect.stringContaining("from 1 to 10") });
    },
  );
});
