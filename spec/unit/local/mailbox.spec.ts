// Messages are handled one at a time, in order, whatever a handler does.
import { describe, expect, it } from "@jest/globals";
import { Mailbox } from "../../../lib/local/mailbox.ts";

function recording(
  handle: (message: string, mailbox: Mailbox<string>) => void,
  onError = (_error: unknown) => undefined,
) {
  const log: string[] = [];
  const mailbox: Mailbox<string> = new Mailbox(
    (message) => {
      log.push(`begin ${message}`);
      handle(message, mailbox);
      log.push(`end ${message}`);
    },
    (error, message) => {
      log.push(`${String(error)} at ${message}`);
      onError(error);
    },
  );
  return { log, mailbox };
}

describe("a mailbox", () => {
  it("handles a message before post returns", () => {
    const { log, mailbox } = recording(() => undefined);
    mailbox.post("a");
    expect(log).toEqual(["begin a", "end a"]);
  });

  it("finishes a message before it begins the one that the handler posted", () => {
    const { log, mailbox } = recording((message, self) => {
      if (message !== "a") return;
      self.post("b");
      self.post("c");
    });
    mailbox.post("a");
    expect(log).toEqual(["begin a", "end a", "begin b", "end b", "begin c", "end c"]);
  });

  it("keeps the order of messages posted from different depths", () => {
    const follow: Record<string, string[]> = { a: ["b", "c"], b: ["d"], c: ["e"] };
    const { log, mailbox } = recording((message, self) => {
      for (const next of follow[message] ?? []) self.post(next);
    });
    mailbox.post("a");
    expect(log.filter((entry) => entry.startsWith("begin"))).toEqual(
      ["a", "b", "c", "d", "e"].map((message) => `begin ${message}`),
    );
  });

  it("reports what a handler throws, and continues with the next message", () => {
    const { log, mailbox } = recording((message, self) => {
      if (message !== "bad") return;
      self.post("next");
      throw new Error("bug");
    });
    mailbox.post("bad");
    mailbox.post("later");
    expect(log).toEqual(["begin bad", "Error: bug at bad", "begin next", "end next", "begin later", "end later"]);
  });

  it("continues even if the report throws", () => {
    const { log, mailbox } = recording(
      (message) => {
        if (message === "bad") throw new Error("bug");
      },
      () => {
        throw new Error("the reporter's own bug");
      },
    );
    try {
      mailbox.post("bad");
    } catch {
      // The caller of post may get the error, but the mailbox must not stay blocked.
    }
    mailbox.post("later");
    expect(log).toEqual(["begin bad", "Error: bug at bad", "begin later", "end later"]);
  });
});
