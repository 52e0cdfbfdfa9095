// The relations between limits that other code relies on.
import { describe, expect, it } from "@jest/globals";
import { limits, MAX_WINDOW_BYTES, MIN_FRAME_BYTES, MIN_PING_MS } from "../../protocol/index.ts";

describe("the default limits", () => {
  it("are positive safe integers", () => {
    for (const [name, value] of Object.entries(limits))
      expect([name, Number.isSafeInteger(value) && value > 0]).toEqual([name, true]);
  });

  it("let a chunk be merged and retained whole", () => {
    expect(limits.chunkBytes * 2).toBeLessThanOrEqual(limits.retainedBytes);
    expect(limits.mergeBelowBytes).toBeLessThanOrEqual(limits.chunkBytes);
  });

  it("let a whole read reply fit the 262,144 values of one JSON message, five for each chunk and twenty around them", () => {
    expect(limits.retainedEvents * 5 + 20).toBeLessThan(262_144);
  });

  it("let one process stay far below the memory of all, and the closed below half of it", () => {
    const process = limits.retainedBytes + limits.retainedEvents * limits.eventOverheadBytes;
    expect(process * 10).toBeLessThan(limits.memoryBudgetBytes);
    expect(limits.closedBytes * 2).toBeLessThanOrEqual(limits.memoryBudgetBytes);
  });

  it("let what is said of closed processes, and what is kept of them, stay within half of the memory of all", () => {
    expect(limits.closedBytes + limits.closedInfoBytes).toBeLessThanOrEqual(limits.memoryBudgetBytes / 2);
    const usual = limits.processOverheadBytes + 2 * (limits.infoArgvBytes + 500);
    expect(limits.closedProcesses * usual).toBeLessThanOrEqual(limits.closedInfoBytes);
  });

  it("let everything that can be said of a process stand in the smallest frame, and a page in any", () => {
    const { processIdChars, labels, labelBytes, pathBytes, infoArgvBytes } = limits;
    const largest = 3 * processIdChars + labelBytes + 10 * labels + pathBytes + infoArgvBytes + 1_000;
    expect(largest).toBeLessThan(MIN_FRAME_BYTES);
    expect(limits.listPageBytes).toBeLessThanOrEqual(limits.listBytes);
    expect(limits.listBytes).toBeLessThanOrEqual(limits.frameBytes);
    expect(MIN_FRAME_BYTES).toBeLessThanOrEqual(limits.frameBytes);
  });

  it("are limits that a client accepts", () => {
    expect(limits.pingMs).toBeGreaterThanOrEqual(MIN_PING_MS);
    expect(limits.windowBytes).toBeLessThanOrEqual(MAX_WINDOW_BYTES);
  });

  it("let a termination finish while its process is still kept", () => {
    expect(limits.graceMs + limits.closeDeadlineMs).toBeLessThan(limits.closedRetentionMs);
  });

  it("keep merging below what a person notices, and below every other time", () => {
    expect(limits.mergeWindowMs).toBeLessThanOrEqual(10);
    expect(limits.mergeWindowMs).toBeLessThan(limits.graceMs);
  });

  it("stay within what a timer of Node can count", () => {
    const times = Object.entries(limits).filter(([name]) => name.endsWith("Ms"));
    expect(times.length).toBeGreaterThan(5);
    for (const [name, value] of times) expect([name, value < 2 ** 31]).toEqual([name, true]);
  });

  it("keep more closed processes than can be alive, and hold the ids of a uuid with room to spare", () => {
    expect(limits.closedProcesses).toBeGreaterThan(limits.liveProcesses);
    expect(limits.writeIdChars).toBeGreaterThan(36);
    expect(limits.processIdChars).toBeGreaterThan(36);
  });

  it("keep all peers without a token together, and all viewers, below 64 MiB with a frame each", () => {
    // A frame, its pieces, and what Node and the kernel keep for a connection.
    const costs = (frameBytes: number) => frameBytes + 64 * 1024;
    expect(limits.waitingConnections * costs(limits.helloBytes)).toBeLessThan(64 * 1024 * 1024);
    expect(limits.viewConnections * costs(limits.viewFrameBytes)).toBeLessThan(64 * 1024 * 1024);
  });

  it("give every viewer a session, and a hello room for all requests that may be pending", () => {
    expect(limits.viewSessions).toBeGreaterThan(limits.viewConnections);
    expect(limits.viewSessionTtlMs).toBeLessThan(limits.sessionTtlMs);
    expect(limits.requests * 9).toBeLessThan(limits.helloBytes);
    expect(limits.requests * 9).toBeLessThan(limits.viewFrameBytes);
  });

  it("let the largest argument fit the queue of the input, for who moves it there", () => {
    expect(limits.stdinQueueBytes).toBeGreaterThan(limits.argBytes);
  });

  it("let all viewers together make a server hold less than 64 MiB, and leave far more to those that may act", () => {
    expect(limits.viewConnectionsBytes * 3).toBeLessThan(64 * 1024 * 1024);
    const chunkFrame = limits.chunkBytes + limits.frameOverheadBytes + 256;
    expect(limits.viewConnections * chunkFrame).toBeLessThan(limits.viewConnectionsBytes);
    expect(limits.viewConnectionsBytes * 8).toBeLessThan(limits.connectionsBytes);
  });

  it("let a connection be filled by what it may have sent ahead, and ended long before it could fill what all share", () => {
    expect(limits.windowBytes).toBeLessThan(limits.outboxBytes);
    expect(limits.outboxReplyBytes).toBeLessThanOrEqual(limits.outboxMaxBytes / 8);
    expect(limits.outboxMaxBytes * 4).toBeLessThanOrEqual(limits.connectionsBytes);
    expect(limits.frameOverheadBytes * 64).toBeLessThan(limits.outboxReplyBytes);
  });

  it("drop an unread connection before its session or the pause of its processes ends", () => {
    expect(limits.crowdedMs).toBeLessThan(limits.stallMs);
    expect(limits.stallMs).toBeLessThan(limits.sessionTtlMs);
    expect(limits.stallMs).toBeLessThan(limits.pauseLeaseMs);
  });
});
