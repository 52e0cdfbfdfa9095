// Many readers on one connection: a few that never stop must not starve the others.
import { expect, it } from "@jest/globals";
import { RoundRobin } from "../../../../lib/server/sending/round-robin.ts";

it("begins after the one that used the room up, so that every reader gets a turn", () => {
  const roundRobin = new RoundRobin();
  const served: string[] = [];
  // Floods use up the room at once, the other processes never do.
  for (let round = 0; round < 3; round += 1) {
    let room = true;
    const serve = (name: string) => {
      served.push(name);
      if (name.startsWith("flood")) room = false;
    };
    roundRobin.serve(["flood 1", "flood 2", "quiet"], serve, () => room);
  }
  expect(served).toEqual(["flood 1", "flood 2", "quiet", "flood 1"]);
});

it("serves all members when there is room for all, and none when there are none", () => {
  const served: number[] = [];
  const roundRobin = new RoundRobin();
  roundRobin.serve(
    [1, 2, 3],
    (member) => served.push(member),
    () => true,
  );
  roundRobin.serve(
    [],
    () => served.push(0),
    () => true,
  );
  expect(served).toEqual([1, 2, 3]);
});
