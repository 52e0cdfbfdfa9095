// Shared by the checks of fs/*: a small tree, and helpers to define a check.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { outcome, refusal } from "../observe.mjs";

/** A check whose `act` gets a session and the context, in a folder that `prepare` fills. */
export const files = (id, what, act, expect, prepare = () => {}) => ({
  id: `files/${id}`,
  section: "4",
  what,
  run: async (ctx) => {
    prepare(ctx);
    return act(await ctx.session(), ctx);
  },
  expect,
});

/** A check of a refused request; its message is compared if `expect` has one. */
export const refused = (id, what, method, params, expect, prepare) =>
  files(
    id,
    what,
    async (peer, ctx) => {
      const answer = refusal(await peer.call(method, params(ctx)), { [ctx.dir]: "DIR" });
      return typeof expect === "number" ? (answer.code ?? answer) : answer;
    },
    expect,
    prepare,
  );

/** Creates a file, a folder with a file, a link to the file, and a dangling link. */
export function tree(ctx) {
  writeFileSync(ctx.path("file"), "text");
  mkdirSync(ctx.path("folder"));
  writeFileSync(ctx.path("folder/inner"), "inner");
  symlinkSync("file", ctx.path("link"));
  symlinkSync("nothing", ctx.path("dangling"));
}

/** Params with one path. */
export const at =
  (...names) =>
  (ctx) => ({ path: ctx.uri(...names) });
export const NOT_FOUND = { code: -32004, message: "No such file or directory (os error 2)" };
/** The outcome of a call. */
export const ask = async (peer, method, params) => outcome(await peer.call(method, params));
