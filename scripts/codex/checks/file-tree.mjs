// What the checks of fs/* share: a small tree, and checks that are one call or a few.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { outcome, refusal } from "../observe.mjs";

/** A check whose `act` gets a session and the context, in a folder made by `prepare`. */
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

/** A request that is refused; its text is compared when the expectation has one. */
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

/** A file, a folder with a file, a link to the file, a link to nothing. */
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
