// Abort signals of callers: one listener however many calls, none left behind, and every call is told once.
import { getEventListeners } from "node:events";
import { expect, it } from "@jest/globals";
import { abortable, onAbort } from "../../lib/abort.ts";

const listenersOf = (signal: AbortSignal) => getEventListeners(signal, "abort").length;

it("adds one listener for any number of calls, and removes it after the last", () => {
  const { signal } = new AbortController();
  const stops = Array.from({ length: 30 }, () => onAbort(signal, () => undefined));
  expect(listenersOf(signal)).toBe(1);
  for (const stop of stops) stop();
  expect(listenersOf(signal)).toBe(0);
  const stop = onAbort(signal, () => undefined);
  expect(listenersOf(signal)).toBe(1);
  for (const again of [...stops, stop, stop]) again();
  expect(listenersOf(signal)).toBe(0);
});

it("calls back once for each call that has not stopped listening, and never later", () => {
  const controller = new AbortController();
  const { signal } = controller;
  const called: string[] = [];
  const add = (name: string) => onAbort(signal, () => called.push(name));
  const stopFirst = add("first");
  add("second");
  add("second");
  stopFirst();
  controller.abort();
  expect(called).toEqual(["second", "second"]);
  expect(listenersOf(signal)).toBe(0);
  add("late");
  expect(called).toEqual(["second", "second"]);
});

it("settles a promise or its abort, whichever comes first", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const never = new Promise<never>(() => undefined);
  expect(await abortable(Promise.resolve(1), signal)).toBe(1);
  const aborted = abortable(never, signal);
  controller.abort("reason");
  await expect(aborted).rejects.toBe("reason");
  await expect(abortable(never, signal)).rejects.toBe("reason");
  expect(await abortable(Promise.resolve(2), undefined)).toBe(2);
});
