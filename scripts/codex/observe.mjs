// Turns answers into observations that do not depend on the machine or the run.
import { readFile } from "node:fs/promises";

/** The code of a refusal, with its kind if it has one; "ok" for any other answer. */
export function outcome({ error }) {
  if (!error) return "ok";
  return error.data?.kind === undefined ? error.code : `${error.code} ${error.data.kind}`;
}

/** The code and message of a refusal; `names` (an object: text to placeholder) is replaced in the message. */
export function refusal({ error, result }, names = {}) {
  if (!error) return { result };
  let { message } = error;
  for (const [text, placeholder] of Object.entries(names)) message = message.replaceAll(text, placeholder);
  return { code: error.code, message };
}

/** Encodes text or bytes as base64. */
export const base64 = (data) => Buffer.from(data).toString("base64");

/** Decodes base64 to text. */
export const text = (data) => Buffer.from(data, "base64").toString();

/** Resolves with true when `holds()` does, with false if it does not within `ms`. */
export async function eventually(holds, ms = 10_000) {
  for (const end = Date.now() + ms; Date.now() < end; ) {
    if (await holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

/** Whether a process of this machine exists and is not a zombie. */
export async function isRunning(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat !== "" && !/\) [ZX] /.test(stat);
}
