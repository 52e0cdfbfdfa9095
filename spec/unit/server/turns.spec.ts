// Many processes share one connection: a few that never stop must leave room for the others.
import { expect, it } from "@jest/globals";
import { Turns } from "../../../lib/server/turns.ts";

it("begins after the one that used up the room, so that each gets a turn", () => {
  const turns = new Turns();
  const served: string[] = [];
  // Floods use up the room at once, the other processes never do.
  for (let round = 0; round < 3; round += 1) {
    let room = true;
    const serve = (name: string) => {
      served.push(name);
      if (name.startsWith("flood")) room = false;
    };
    turns.take(["flood 1", "flood 2", "quiet"], serve, () => room);
  }
  expect(served).toEqual(["flood 1", "flood 2", "quiet", "flood 1"]);
});

it("serves all if there is room for all, and can be empty", () => {
  const served: number[] = [];
  const turns = new Turns();
  turns.take(
    [1, 2, 3],
    (member) => served.push(member),
    () => true,
  );
  turns.take(
    [],
    () => served.push(0),
    () => true,
  );
  expect(served).toEqual([1, 2, 3]);
});
