// Runs one check against one server; returns the observation and the verdict.
import { isDeepStrictEqual } from "node:util";
import { CheckContext } from "./context.mjs";

/**
 * `target` is `{ kind: "ours" | "reference", url, token, pid? }`, as startServer returns it. The verdict is "expected" (as the
 * document promises), "better" (as declared in `better`), or "wrong".
 */
export async function runCheck(check, target) {
  const context = new CheckContext(target);
  let seen;
  try {
    seen = JSON.parse(JSON.stringify((await check.run(context)) ?? null));
  } catch (error) {
    seen = { threw: error.message };
  } finally {
    await context.cleanUp();
  }
  return { seen, verdict: judge(check, seen) };
}

function judge({ expect, better }, seen) {
  if (isDeepStrictEqual(seen, expect)) return "expected";
  return better && isDeepStrictEqual(seen, better.expect) ? "better" : "wrong";
}
