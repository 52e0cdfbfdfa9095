// When descriptors become scarce, by the numbers of the system.
import { describe, expect, it } from "@jest/globals";
import { Descriptors } from "../../../../lib/transport/admission/descriptors.ts";

/** The descriptors of a program that may open `max` and has opened `open`. */
function program(max: number | undefined, open: number, reserve = 100) {
  const state = { open, looks: 0 };
  const descriptors = new Descriptors(reserve, {
    max: () => max,
    open: () => {
      state.looks += 1;
      return state.open;
    },
  });
  return { descriptors, state };
}

describe("the descriptors of a program", () => {
  it.each([
    [10_000, 9_900, false, false],
    [10_000, 9_901, true, false],
    [10_000, 9_975, true, false],
    [10_000, 9_976, true, true],
    // At most an eighth is reserved: 32 of 256.
    [256, 224, false, false],
    [256, 225, true, false],
    [256, Number.POSITIVE_INFINITY, true, true],
    [undefined, 1_000_000, false, false],
  ])("with a limit of %p and %p open: scarce %p, used up %p", (max, open, scarce, usedUp) => {
    const { areScarce, areUsedUp } = program(max, open).descriptors;
    expect([areScarce, areUsedUp]).toEqual([scarce, usedUp]);
  });

  it("limit connections of one kind to an eighth", () => {
    expect(program(256, 0).descriptors.atMostAnEighth(1_000)).toBe(32);
    expect(program(1_000_000, 0).descriptors.atMostAnEighth(1_000)).toBe(1_000);
    expect(program(undefined, 0).descriptors.atMostAnEighth(1_000)).toBe(1_000);
  });

  it("are not counted for every connection of a crowd, but soon enough", () => {
    const { descriptors, state } = program(256, 0);
    expect(descriptors.areScarce).toBe(false);
    state.open = 255;
    let asked = 0;
    while (!descriptors.areScarce) asked += 1;
    expect(asked).toBeLessThan(32);
    expect(state.looks).toBeLessThan(10);
  });

  it("are those of this program by default", () => {
    const descriptors = new Descriptors(1);
    expect([descriptors.areScarce, descriptors.areUsedUp]).toEqual([false, false]);
  });
});
