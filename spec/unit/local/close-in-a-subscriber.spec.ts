// A subscriber of `changes$` may close the supervisor during the report of a start.
import { expect, it } from "@jest/globals";
import { filter, take } from "rxjs";
import { FakeHost } from "../../support/fake-supervisor.ts";
import { nextTurn } from "../../support/next-turn.ts";
import { refusal } from "../../support/refusal.ts";

it("cancels a process whose start is being reported when the supervisor is closed", async () => {
  const { supervisor, spawner, errors } = new FakeHost();
  let closing: Promise<void> | undefined;
  supervisor.changes$
    .pipe(
      filter(({ state }) => state === "starting"),
      take(1),
    )
    .subscribe(() => {
      closing = supervisor.close();
    });
  expect(await refusal(supervisor.start({ argv: ["/bin/true"] }))).toEqual({ code: "START_CANCELLED", data: {} });
  await nextTurn();
  const [child] = spawner.children;
  expect(child?.calls).toEqual(["SIGKILL tree"]);
  child?.exit("SIGKILL");
  child?.end();
  await closing;
  expect(child?.calls).toEqual(["SIGKILL tree", "release"]);
  expect(errors).toEqual([]);
});
