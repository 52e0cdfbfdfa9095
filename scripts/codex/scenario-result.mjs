// Reads the result of a scenario from the harness's files: passed, failed, or refused as expected.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Scenarios that need a sandbox. Where none can be set up, the server must refuse them, and the model must see the refusal. */
const NEEDS_SANDBOX = new Set(["sandbox_ro", "sandbox_ww"]);

/** Returns `{ status: "PASS" | "REFUSED" | "FAIL", why }` for the scenario whose traces are in `folder`. */
export function resultOf(name, folder) {
  const path = join(folder, "summary.json");
  if (!existsSync(path)) return { status: "FAIL", why: "the harness ended before the scenario did" };
  const summary = JSON.parse(readFileSync(path, "utf8"));
  if (summary.ok) return { status: "PASS", why: "" };
  const refusal = NEEDS_SANDBOX.has(name) ? sandboxRefusal(folder) : undefined;
  if (refusal && summary.toolOutputs.length > 0 && summary.toolOutputs.every((it) => textOf(it).includes(refusal))) {
    return { status: "REFUSED", why: refusal };
  }
  return { status: "FAIL", why: summary.problem ?? `exit code ${summary.exit}` };
}

/** The server's message when it refused to start a process because of its sandbox. */
function sandboxRefusal(folder) {
  const lines = readFileSync(join(folder, "frames.jsonl"), "utf8").split("\n").filter(Boolean);
  const errors = lines.map((line) => JSON.parse(line)).flatMap(({ dir, msg }) => (dir === "s2c" && msg?.error) || []);
  return errors.find(({ code, message }) => code === -32602 && /sandbox/i.test(message))?.message;
}

/** The output of a tool, as the model saw it. */
function textOf({ output }) {
  return typeof output === "string" ? output : JSON.stringify(output);
}
