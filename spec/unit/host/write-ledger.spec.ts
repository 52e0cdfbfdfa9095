// Which writes were accepted, compared with a model that uses a plain list.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { WriteLedger } from "../../../lib/host/write-ledger.ts";
import { runs } from "../../support/fuzz.ts";

const chunk = (text: string) => Buffer.from(text);

/** `accepted` (and remembered), `known` or `conflict`. */
function submit(ledger: WriteLedger, id: string, text: string): string {
  try {
    if (ledger.knows(id, chunk(text))) return "known";
  } catch (error) {
    return (error as { code: string }).code;
  }
  ledger.remember(id, chunk(text));
  return "accepted";
}

function submitToModel(list: [string, string][], capacity: number, id: string, text: string): string {
  const known = list.find(([name]) => name === id);
  if (known) return known[1] === text ? "known" : "WRITE_ID_CONFLICT";
  list.push([id, text]);
  if (list.length > capacity) list.shift();
  return "accepted";
}

describe("a write ledger", () => {
  it("knows the last ids with their bytes, and no older ones", () => {
    const write = fc.tuple(fc.constantFrom("a", "b", "c", "d", "e", "f"), fc.constantFrom("", "x", "y"));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(write), (capacity, writes) => {
        const ledger = new WriteLedger(capacity);
        const list: [string, string][] = [];
        const answers = writes.map(([id, text]) => submit(ledger, id, text));
        expect(answers).toEqual(writes.map(([id, text]) => submitToModel(list, capacity, id, text)));
      }),
      runs(100),
    );
  });

  it("names the id in a conflict", () => {
    const ledger = new WriteLedger(10);
    ledger.remember("w1", chunk("one"));
    expect(() => ledger.knows("w1", chunk("two"))).toThrow(
      expect.objectContaining({ code: "WRITE_ID_CONFLICT", data: { writeId: "w1" } }),
    );
  });

  it("distinguishes ids that differ only in case, and accepts any text as an id", () => {
    const ledger = new WriteLedger(10);
    for (const id of ["w", "W", "__proto__", "constructor"]) {
      expect(submit(ledger, id, id)).toBe("accepted");
      expect(submit(ledger, id, id)).toBe("known");
    }
  });
});
