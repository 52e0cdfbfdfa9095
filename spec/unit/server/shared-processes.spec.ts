// How a server finds the process of an id, even if the backend did not report that the id has a new incarnation.
import { beforeEach, describe, expect, it } from "@jest/globals";
import { ExecwireError } from "../../../lib/errors.ts";
import type { Backend } from "../../../lib/process/backend.ts";
import type { Process } from "../../../lib/process/process.ts";
import { SharedProcesses } from "../../../lib/server/shared-processes.ts";
import type { ProcessInfo } from "../../../protocol/index.ts";
import { refusal } from "../../support/refusal.ts";

describe("the process of an address", () => {
  /** The incarnation that the backend knows, if any, and the number of look-ups. */
  let present: string | undefined;
  let asked: number;
  let processes: SharedProcesses;
  beforeEach(() => {
    present = "first";
    asked = 0;
    const attach = async (id: string) => {
      asked += 1;
      if (present === undefined) throw new ExecwireError("PROCESS_UNKNOWN", "no such process");
      return { id, incarnation: present } as Process;
    };
    processes = new SharedProcesses({ attach } as unknown as Backend);
  });

  const at = async (incarnation: string) => (await processes.at({ processId: "p", incarnation })).process.incarnation;
  const unknown = { code: "PROCESS_UNKNOWN", data: { processId: "p" } };

  it("is looked up once, and then the same object", async () => {
    const [one, other] = [processes.find("p"), processes.find("p")];
    expect(await one).toBe(await other);
    expect(await at("first")).toBe("first");
    expect(asked).toBe(1);
  });

  it("is looked up again when the id has a new incarnation", async () => {
    expect(await at("first")).toBe("first");
    present = "second";
    expect(await at("second")).toBe("second");
    expect((await processes.find("p")).process.incarnation).toBe("second");
    expect(asked).toBe(2);
  });

  it("is never another incarnation than the requested one", async () => {
    expect(await refusal(at("second"))).toEqual(unknown);
    present = "second";
    expect(await refusal(at("third"))).toEqual(unknown);
    expect(await at("second")).toBe("second");
  });

  it("is looked up again after it was unknown, and after it was removed", async () => {
    present = undefined;
    expect(await refusal(at("first"))).toEqual({ code: "PROCESS_UNKNOWN", data: {} });
    present = "first";
    expect(await at("first")).toBe("first");
    processes.forget({ processId: "p", incarnation: "first" } as ProcessInfo);
    present = "second";
    expect((await processes.find("p")).process.incarnation).toBe("second");
  });

  it("is released by everything that holds it when it is removed", async () => {
    const shared = await processes.find("p");
    const released: unknown[] = [];
    const owned = new Set([shared]);
    shared.owner = { owned };
    shared.removalListeners.add({ removed: (which) => released.push(which) });
    processes.forget({ processId: "p", incarnation: "another" } as ProcessInfo);
    expect([released, owned.size]).toEqual([[], 1]);
    processes.forget({ processId: "p", incarnation: "first" } as ProcessInfo);
    expect([released, owned.size]).toEqual([[shared], 0]);
  });
});
