// The table of limits: for each of them a row that overrides it through the public API and sees the effect.
import { afterEach, describe, expect, it } from "@jest/globals";
import { createSupervisor } from "../../lib/local/supervisor.ts";
import { type Limits, limits } from "../../protocol/index.ts";
import { refusal } from "../support/refusal.ts";
import { clientRows } from "./client-rows.ts";
import { connectionRows } from "./connection-rows.ts";
import { memoryRows } from "./memory-rows.ts";
import { networkRows } from "./network-rows.ts";
import { processRows } from "./process-rows.ts";
import { socketRows } from "./socket-rows.ts";
import { cleanUp, FakeServer, type Row } from "./worlds.ts";

/** A limit without a row does not compile. */
const rows: { readonly [K in keyof Limits]: Row } = {
  ...processRows,
  ...connectionRows,
  ...memoryRows,
  ...clientRows,
  ...socketRows,
  ...networkRows,
};

const table = Object.entries(rows).map(([name, [seen, look]]) => ({ name, seen, look }));

afterEach(cleanUp);

describe("the override of a limit has an effect", () => {
  it.each(table)("$name: $seen", ({ look }) => look());

  it("has a row for each limit, and no other", () => {
    expect(table.map(({ name }) => name).sort()).toEqual(Object.keys(limits).sort());
  });
});

describe("an override that is no limit is refused with its name", () => {
  const wrong: [field: string, value: unknown][] = [
    ["retainedBytes", -1],
    ["graceMs", Number.NaN],
    ["chunkBytes", 1.5],
    ["pingMs", 2 ** 31],
    ["windowBytes", Number.POSITIVE_INFINITY],
    ["requests", "4"],
    ["turnMs", 0],
    ["retainedByte", 1],
  ];

  it.each(wrong)("%s: %p", async (name, value) => {
    const overrides = { [name]: value } as Partial<Limits>;
    const refused = { code: "INVALID_PARAMS", data: { field: `limits.${name}` } };
    expect(await refusal((async () => createSupervisor({ limits: overrides }))())).toEqual(refused);
    expect(await refusal(FakeServer.open(overrides))).toEqual(refused);
    const server = await FakeServer.open({});
    expect(await refusal(server.client(overrides))).toEqual(refused);
  });

  it("takes one that is undefined for none", async () => {
    const server = await FakeServer.open({ pingMs: undefined } as never);
    const peer = await server.greeted();
    expect(peer.of("welcome")[0]?.limits).toMatchObject({ pingMs: limits.pingMs });
  });
});
