// protocol/README.md is complete: a client in another language is written from it alone.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";

const folder = join(import.meta.dirname, "../../protocol");
const readme = readFileSync(join(folder, "README.md"), "utf8");

/** The names that `pattern` finds in the declaration of `name`. */
function namesIn(file: string, name: string, pattern: RegExp): string[] {
  const source = readFileSync(join(folder, file), "utf8");
  const start = source.search(new RegExp(`^export (interface|type) ${name}\\b`, "m"));
  const [declaration = ""] = source.slice(start).split(/^}|;\n\n/m);
  return [...declaration.matchAll(pattern)].map((match) => match[1] as string);
}

const FIELD = /^ {2}(?:readonly )?(\w+)\??:/gm;
const WORD = /\| "([\w-]+)"/g;

describe.each([
  ["every code of an error", namesIn("errors.ts", "ErrorCode", WORD)],
  ["every kind of failed start", namesIn("errors.ts", "SpawnFailureKind", WORD)],
  ["every field of a spec", namesIn("process.ts", "ProcessSpec", FIELD)],
  ["every field of an environment policy", namesIn("process.ts", "EnvPolicy", FIELD)],
  ["every field of an info", namesIn("process.ts", "ProcessInfo", FIELD)],
  ["every field of a read", namesIn("process.ts", "ReadResult", FIELD)],
  ["every scope of a signal", namesIn("process.ts", "KillScope", /"(\w+)"/g)],
  ["every answer to a write", namesIn("process.ts", "WriteStatus", /"(\w+)"/g)],
  ["every state of a process", namesIn("process.ts", "ProcessState", /"(\w+)"/g)],
  ["every activity", namesIn("process.ts", "ActivityState", WORD)],
  ["every method", namesIn("messages.ts", "Methods", /^ {2}"([\w/]+)"/gm)],
])("explains %s", (_, names) => {
  it("of which there are some", () => expect(names.length).toBeGreaterThan(1));

  it.each(names)("%s", (name) => {
    expect(readme).toMatch(new RegExp(`\`[^\`]*(?<![\\w/])${name}(?![\\w/])[^\`]*\``));
  });
});
