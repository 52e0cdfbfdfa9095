// What the checks of process/start share: a good start, and a change to it.
import { outcome } from "../observe.mjs";

/** The answer to a start with `change` made to a good one; a function gets the context. */
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
