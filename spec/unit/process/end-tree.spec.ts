// The end of a process with its tree, where a backend does not do all of it.
import { describe, expect, it } from "@jest/globals";
import { ExecwireError } from "../../../lib/errors.ts";
import { terminateTree } from "../../../lib/process/end-tree.ts";
import type { TerminateOptions } from "../../../lib/process/port.ts";
import type { Process } from "../../../lib/process/process.ts";
import { refusal } from "../../support/refusal.ts";

describe("a termination", () => {
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

  it("is as much as the dialect can do", async () => {
    const { asked, process } = refusing("UNSUPPORTED");
    await terminateTree(process, 100);
    expect(asked).toEqual([{ scope: "tree", graceMs: 100 }, undefined]);
  });

  it("is not tried again in another way where it fails for another reason", async () => {
    const { asked, process } = refusing("CONNECTION_LOST");
    expect(await refusal(terminateTree(process, 0))).toMatchObject({ code: "CONNECTION_LOST" });
    expect(asked).toHaveLength(1);
  });
});
