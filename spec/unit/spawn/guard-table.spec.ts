// The table of a guard: what stands in its file is who is recorded, in rows that are used again.
import { readFileSync, readlinkSync } from "node:fs";
import { afterEach, describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { GuardTable } from "../../../lib/spawn/guard-table.ts";

const tables: GuardTable[] = [];
afterEach(() => {
  for (const table of tables.splice(0)) table.close();
});

function make(): GuardTable {
  const table = new GuardTable();
  tables.push(table);
  return table;
}

const textOf = (table: GuardTable) => readFileSync(`/proc/self/fd/${table.fd}`, "latin1");
const recordsOf = (table: GuardTable) =>
  textOf(table)
    .split("\n")
    .flatMap((row) => row.trim() || []);

describe("the table of a guard", () => {
  it("says who is recorded, with the start time where there is one", () => {
    const table = make();
    table.record(12);
    table.record(4_194_304, 123_456_789_012);
    expect(recordsOf(table)).toEqual(["12", "4194304 123456789012"]);
    expect(table.erase(12)).toBe(true);
    expect(table.erase(12)).toBe(false);
    expect(recordsOf(table)).toEqual(["4194304 123456789012"]);
    expect([table.has(12), table.has(4_194_304), table.size]).toEqual([false, true, 1]);
  });

  it("is a file that has no name any more", () => {
    expect(readlinkSync(`/proc/self/fd/${make().fd}`)).toMatch(/execwire-guard-.* \(deleted\)$/);
  });

  it("holds who is recorded and nobody else, and no more rows than were recorded at once", () => {
    const pids = fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 100 });
    fc.assert(
      fc.property(pids, (changed) => {
        const table = new GuardTable();
        const recorded = new Set<number>();
        let most = 0;
        for (const pid of changed) {
          if (recorded.delete(pid)) table.erase(pid);
          else table.record([...recorded.add(pid)].at(-1) as number);
          most = Math.max(most, recorded.size);
        }
        expect(recordsOf(table).map(Number).sort()).toEqual([...recorded].sort());
        expect(textOf(table)).toHaveLength(32 * most);
        table.close();
      }),
    );
  });
});
