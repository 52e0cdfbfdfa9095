// The reply to `process/list` always fits into a frame, and pages omit no process.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { pageOf, wholeList } from "../../../lib/server/process-list.ts";
import { encode, limits, type ProcessInfo } from "../../../protocol/index.ts";

function info(index: number, argvBytes = 10, labels: Readonly<Record<string, string>> = {}): ProcessInfo {
  return {
    processId: `process-${index}`,
    incarnation: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
    state: "closed",
    argv: ["sh", "-c", "x".repeat(argvBytes)],
    cwd: "/",
    tty: false,
    stdin: false,
    // Some processes start in the same millisecond.
    startedAt: 1_700_000_000_000 + Math.floor(index / 3),
    exitCode: 0,
    signal: null,
    sandbox: "none",
    labels,
  };
}

const frameOf = (result: object) => encode({ type: "reply", id: 1, result }).length;
const idsOf = (processes: readonly ProcessInfo[]) => processes.map(({ processId }) => processId);

describe("a list in pages", () => {
  it("names every process that exists from the first page to the last, whatever is removed or added meanwhile", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(3_000), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 4_000, max: 20_000 }),
        fc.func(fc.nat(4)),
        (sizes, limit, maxBytes, removes) => {
          let processes = sizes.map((size, index) => info(index, size));
          let added = sizes.length;
          const seen = new Set<string>();
          let after: string | undefined;
          for (let page = 0; page < 500; page += 1) {
            const result = pageOf(processes, { limit, after }, maxBytes);
            expect(result.processes.length).toBeLessThanOrEqual(limit);
            expect(frameOf(result)).toBeLessThanOrEqual(maxBytes);
            for (const id of idsOf(result.processes)) seen.add(id);
            after = result.next;
            if (after === undefined) break;
            processes = processes.filter((_, index) => removes(page, index) !== 0);
            if (page < 20) processes.push(info(added++));
          }
          expect(after).toBeUndefined();
          for (const id of idsOf(processes)) expect(seen).toContain(id);
        },
      ),
    );
  });
});

describe("a list for a client without pages", () => {
  it("fits all processes that a supervisor keeps into one frame, with the described part of their scripts", () => {
    const processes = Array.from({ length: limits.closedProcesses + limits.liveProcesses }, (_, index) =>
      info(index, limits.infoArgvBytes),
    );
    const list = wholeList(processes, limits.frameBytes);
    expect(list.processes.length).toBe(processes.length);
    expect(list.processes[0]).toBe(processes[0]);
    expect(frameOf(list)).toBeLessThanOrEqual(limits.frameBytes);
  });

  it("shortens long infos before it omits any, and then omits the oldest", () => {
    const long = Array.from({ length: 100 }, (_, index) => info(index, 2_000));
    const shortened = wholeList(long, 65_536);
    expect(idsOf(shortened.processes)).toEqual(idsOf(long));
    expect(frameOf(shortened)).toBeLessThanOrEqual(65_536);
    expect(shortened.processes[0]?.argvOmitted?.bytes).toBeGreaterThan(1_000);
    const many = Array.from({ length: 1_000 }, (_, index) => info(index, 2_000, { label: "v".repeat(100) }));
    const newest = wholeList(many, 65_536);
    expect(frameOf(newest)).toBeLessThanOrEqual(65_536);
    expect(newest.processes.length).toBeGreaterThan(65_536 / 1_000);
    expect(idsOf(newest.processes)).toEqual(idsOf(many).slice(-newest.processes.length));
  });
});
