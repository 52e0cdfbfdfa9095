// Turns answers into observations that are the same on every machine and in every run.
import { readFile } from "node:fs/promises";

/** A refusal by its code and, where there is one, its kind; anything else as "ok". */
export function outcome({ error }) {
  if (!error) return "ok";
  return error.data?.kind === undefined ? error.code : `${error.code} ${error.data.kind}`;
}

/** A refusal with its text, in which `names` (an object: text to placeholder) are replaced. */
export function refusal({ error, result }, names = {}) {
  if (!error) return { result };
  let { message } = error;
  for (const [text, placeholder] of Object.entries(names)) message = message.replaceAll(text, placeholder);
  return { code: error.code, message };
}

/** Base64 of text or bytes. */
export const base64 = (data) => Buffer.from(data).toString("base64");

/** Text of base64. */
export const text = (data) => Buffer.from(data, "base64").toString();

/** Resolves when `holds()` does: true; false when it does not within `ms`. */
export async function eventually(holds, ms = 10_000) {
  for (const end = Date.now() + ms; Date.now() < end; ) {
    if (await holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

/** Whether a process of this machine is there and not a zombie. */
export async function isRunning(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat !== "" && !/\) [ZX] /.test(stat);
}
