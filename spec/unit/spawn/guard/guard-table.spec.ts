// The table of a guard: its file contains the recorded processes, in rows that are reused.
import { mkdtempSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { afterEach, describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { GuardTable } from "../../../../lib/spawn/guard/guard-table.ts";
import { runs } from "../../../support/fuzz.ts";
import { makeScratch } from "../../../support/scratch.ts";

const at = makeScratch();
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
/** Reads it like the guard: up to the first row that was never used. */
function recordsOf(table: GuardTable): string[] {
  const rows = textOf(table)
    .split("\n")
    .map((row) => row.trim());
  return rows.slice(0, rows.indexOf("end")).filter(Boolean);
}

const pidsIn = (table: GuardTable) => recordsOf(table).map((record) => Number.parseInt(record, 10));

describe("the table of a guard", () => {
  it("contains the recorded processes, with their start times and marks if known", () => {
    const table = make();
    table.record(12);
    table.record(4_194_304, 123_456_789_012, 2 ** 48);
    expect(recordsOf(table)).toEqual(["12 -", "4194304 123456789012 281474976710656"]);
    table.record(12, 7);
    expect(recordsOf(table)).toEqual(["12 7", "4194304 123456789012 281474976710656"]);
    table.record(12, { endedAt: 987_654_321_098 }, 2 ** 48);
    expect(recordsOf(table)[0]).toBe("12 <987654321098 281474976710656");
    table.record(4_194_304);
    table.erase(12);
    table.erase(12);
    expect(recordsOf(table)).toEqual(["4194304 -"]);
  });

  it("is an unlinked file", () => {
    expect(readlinkSync(`/proc/self/fd/${make().fd}`)).toMatch(/execwire-guard-.* \(deleted\)$/);
  });

  it("is created in the first folder where that is possible, and does not exist if there is none", () => {
    const [nowhere, somewhere] = [at("no-such-folder"), mkdtempSync(at("tables-"))];
    const table = new GuardTable([nowhere, somewhere]);
    tables.push(table);
    expect(readlinkSync(`/proc/self/fd/${table.fd}`)).toContain(somewhere);
    expect(readdirSync(somewhere)).toEqual([]);
    expect(() => new GuardTable([nowhere])).toThrow(/ENOENT/);
  });

  it("contains exactly the recorded processes, whatever was recorded and erased before", () => {
    const pids = fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 100 });
    fc.assert(
      fc.property(pids, (changed) => {
        const table = new GuardTable();
        const recorded = new Set<number>();
        for (const pid of changed) {
          if (recorded.delete(pid)) table.erase(pid);
          else table.record([...recorded.add(pid)].at(-1) as number);
        }
        expect(pidsIn(table).sort()).toEqual([...recorded].sort());
        table.close();
      }),
      runs(100),
    );
  });

  it("grows by rows that were never used, at its end", () => {
    const table = make();
    const pids = Array.from({ length: 1_500 }, (_, index) => index + 1);
    for (const pid of pids) table.record(pid);
    expect(pidsIn(table)).toEqual(pids);
    expect(textOf(table)).toHaveLength(2_048 * 40);
    for (const pid of pids.slice(1)) table.erase(pid);
    for (const pid of pids.slice(1)) table.record(pid);
    expect(textOf(table)).toHaveLength(2_048 * 40);
  });
});
