// The messages of a file helper, cut out of its output.
import { expect, it } from "@jest/globals";
import { type HelperMessageKind, HelperMessages } from "../../../lib/codex/server/files/helper-messages.ts";

const OUTPUT = Buffer.from('result 2\n{}notify 13\n{"method":"x"}error 0\nresult 4\nnull');
const MESSAGES = [
  ["result", "{}"],
  ["notify", '{"method":"x"'],
];

it.each([1, 2, 3, 7, 1000])("messages are the same in pieces of %i bytes", (size) => {
  const seen: [HelperMessageKind, string][] = [];
  const output = Buffer.from(OUTPUT.toString().replace('"x"}error', '"x"error'));
  const messages = new HelperMessages((kind, json) => seen.push([kind, json.toString()]));
  for (let at = 0; at < output.length; at += size) messages.add(output.subarray(at, at + size));
  expect(seen).toEqual([...MESSAGES, ["error", ""], ["result", "null"]]);
});

it("what is not a message ends the helper", () => {
  const messages = new HelperMessages(() => undefined);
  expect(() => messages.add(Buffer.from("hello\n"))).toThrow("not a message");
});
