// Shared by the checks of process/start: a valid start with one change.
import { outcome } from "../observe.mjs";

/** Observes the answer to a valid start with the changes `change`; a function gets the context. */
export const answered = (id, what, change, expect, observe = outcome) => ({
  id: `start/${id}`,
  section: "3",
  what,
  run: async (ctx) => {
    const peer = await ctx.session();
    const spec = ctx.spec(typeof change === "function" ? change(ctx) : change);
    return observe(await peer.call("process/start", spec));
  },
  expect,
});
