// The environment of a child, compared with a model written from the documentation of EnvPolicy without its code.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { buildEnvironment } from "../../../lib/spawn/environment.ts";
import type { EnvPolicy } from "../../../protocol/index.ts";
import { runs } from "../../support/fuzz.ts";

type Variables = Record<string, string>;

/** Whether the glob matches the whole name, by trying all possibilities. */
function globCovers(glob: string, name: string): boolean {
  if (glob === "") return name === "";
  const rest = glob.slice(1);
  if (glob[0] === "*") return globCovers(rest, name) || (name !== "" && globCovers(glob, name.slice(1)));
  if (name === "") return false;
  return (glob[0] === "?" || glob[0]?.toLowerCase() === name[0]?.toLowerCase()) && globCovers(rest, name.slice(1));
}

const covered = (globs: readonly string[], name: string) => globs.some((glob) => globCovers(glob, name));

const CORE = "PATH SHELL TMPDIR TEMP TMP HOME LANG LC_ALL LC_CTYPE LOGNAME USER".split(" ");
const SECRETS = ["execwire_token"];

function model(own: Variables, env: Variables, policy: EnvPolicy | undefined) {
  let list: [string, string][] = [];
  const set = (name: string, value: string) => {
    list = [...list.filter(([known]) => known !== name), [name, value]];
  };
  const keep = (test: (name: string) => boolean) => {
    list = list.filter(([name]) => test(name));
  };
  if (policy) {
    if (policy.inherit !== "none") list = Object.entries(own);
    if (policy.inherit === "core") keep((name) => CORE.includes(name));
    if (!policy.ignoreDefaultExcludes) keep((name) => !/key|secret|token/i.test(name));
    keep((name) => !covered(policy.exclude ?? [], name));
    for (const [name, value] of Object.entries(policy.set ?? {})) set(name, value);
    const only = policy.includeOnly ?? [];
    if (only.length > 0) keep((name) => covered(only, name));
  }
  for (const [name, value] of Object.entries(env)) set(name, value);
  keep((name) => !SECRETS.includes(name.toLowerCase()));
  return Object.fromEntries(list);
}

const word = fc.constantFrom(
  "PATH",
  "Path",
  "HOME",
  "USER",
  "API_KEY",
  "my_secret",
  "TOKENS",
  "A",
  "a.b",
  "A+",
  "XY",
  "LC_ALL",
);
const special = fc.constant("__proto__");
const secret = fc
  .constantFrom(...SECRETS)
  .chain((name) => fc.constantFrom(name, name.toUpperCase(), name.replace("_", "_X")));
const name = fc.oneof({ weight: 4, arbitrary: word }, special, secret, fc.string({ minLength: 1, maxLength: 4 }));
const variables = fc
  .array(fc.tuple(name, fc.string({ maxLength: 3 })))
  .map((list): Variables => Object.fromEntries(list));
const glob = fc.oneof(word, fc.constantFrom("*", "?", "??", "*A*", "p*h", "*_*", "a?b", "[a-z]*", "", "A+", "*.*"));
const globs = fc.array(glob, { maxLength: 3 });
const policy: fc.Arbitrary<EnvPolicy> = fc.record(
  {
    inherit: fc.constantFrom("all" as const, "core" as const, "none" as const),
    ignoreDefaultExcludes: fc.boolean(),
    exclude: globs,
    set: variables,
    includeOnly: globs,
  },
  { requiredKeys: ["inherit"] },
);

describe("the environment of a child", () => {
  it("follows the policy and then the overlay, for all of them", () => {
    const drawn = [variables, variables, fc.option(policy, { nil: undefined })] as const;
    fc.assert(
      fc.property(...drawn, (own, env, envPolicy) => {
        const spec = { env, ...(envPolicy && { envPolicy }) };
        expect(buildEnvironment(spec, own)).toEqual(model(own, env, envPolicy));
      }),
      runs(1000),
    );
  });

  it("is made without changes to its sources", () => {
    fc.assert(
      fc.property(variables, variables, policy, (own, env, envPolicy) => {
        const before = structuredClone([own, env, envPolicy]);
        buildEnvironment({ env, envPolicy }, own);
        expect([own, env, envPolicy]).toEqual(before);
      }),
      runs(100),
    );
  });
});
