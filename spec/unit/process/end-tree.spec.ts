// The termination of a process with its tree, on a backend that does not support all of it.
import { describe, expect, it } from "@jest/globals";
import { ExecwireError } from "../../../lib/errors.ts";
import { terminateTree } from "../../../lib/process/end-tree.ts";
import type { TerminateOptions } from "../../../lib/process/port.ts";
import type { Process } from "../../../lib/process/process.ts";
import { refusal } from "../../support/refusal.ts";

describe("ending a tree", () => {
  const refusing = (code: "UNSUPPORTED" | "CONNECTION_LOST") => {
    const asked: unknown[] = [];
    const process = {
      terminate: async (options?: TerminateOptions) => {
        asked.push(options);
        if (options) throw new ExecwireError(code, "refused");
        return { running: true };
      },
    } as Partial<Process> as Process;
    return { asked, process };
  };

  it("does as much as the backend supports", async () => {
    const { asked, process } = refusing("UNSUPPORTED");
    await terminateTree(process, 100);
    expect(asked).toEqual([{ scope: "tree", graceMs: 100 }, undefined]);
  });

  it("is not retried in another way if it fails for another reason", async () => {
    const { asked, process } = refusing("CONNECTION_LOST");
    expect(await refusal(terminateTree(process, 0))).toMatchObject({ code: "CONNECTION_LOST" });
    expect(asked).toHaveLength(1);
  });
});
