// The outcome of commands to an unknown process, which no other failure may be mistaken for.
import { describe, expect, it } from "@jest/globals";
import { ExecwireError } from "../../../lib/errors.ts";
import { type MethodContext, methods } from "../../../lib/server/methods.ts";
import type { ErrorCode, MethodName } from "../../../protocol/index.ts";
import { refusal } from "../../support/refusal.ts";

/** Calls a method on a server whose look-up of the process fails. */
function call(method: MethodName, code: ErrorCode): Promise<unknown> {
  const processes = { at: async () => Promise.reject(new ExecwireError(code, "the look-up failed")) };
  const context = { processes, session: { role: "control" } } as unknown as MethodContext;
  const handle = methods[method].handle as (params: object, context: MethodContext) => Promise<unknown>;
  return handle({ processId: "p", incarnation: "i" }, context);
}

const answers = [
  ["process/write", { status: "unknownProcess" }],
  ["process/closeStdin", { status: "unknownProcess" }],
  ["process/signal", {}],
  ["process/resize", {}],
  ["process/terminate", { running: false }],
] as const;
const refusals = ["process/holders", "process/activity", "process/read", "process/subscribe"] as const;

describe("a list for several clients", () => {
  it("is not shared by a first page and the page after a position that is called undefined", async () => {
    const keys = new Set<string>();
    const queued = (key: string) => keys.add(key);
    const context = { session: { role: "view" }, limits: {}, queued } as unknown as MethodContext;
    const pages = [
      {},
      { limit: 5 },
      { limit: 5, after: "undefined" },
      { limit: 5, after: "null" },
      { limit: 5, after: "" },
    ];
    for (const params of pages) void methods["process/list"].handle(params, context);
    expect(keys.size).toBe(pages.length);
  });
});

describe("a command to a process that is unknown", () => {
  it.each(answers)("by %s is answered with %j", async (method, answer) => {
    expect(await call(method, "PROCESS_UNKNOWN")).toEqual(answer);
  });

  it.each(refusals)("by %s is refused", async (method) => {
    expect(await refusal(call(method, "PROCESS_UNKNOWN"))).toEqual({ code: "PROCESS_UNKNOWN", data: {} });
  });
});

describe("a command to a process of a relay that has lost its upstream", () => {
  it.each([...answers.map(([method]) => method), ...refusals])(
    "by %s is refused, and its outcome is not invented",
    async (method) => {
      expect(await refusal(call(method, "CONNECTION_LOST"))).toEqual({ code: "CONNECTION_LOST", data: {} });
    },
  );
});
