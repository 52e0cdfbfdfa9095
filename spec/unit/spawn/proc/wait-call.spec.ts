// What a thread waits for, according to the system call in /proc, and without the right to read that.
import { describe, expect, it } from "@jest/globals";
import { waitInCall, waitInFunction } from "../../../../lib/spawn/proc/wait-call.ts";

const STACK = "0x7ffdb9212bd8 0x7fd7198f2503";
const none = () => "";

describe("a system call", () => {
  const calls = new Map([
    [0, "read"],
    [61, "children"],
    [219, "restart"],
  ] as const);
  const wait = (line: string | undefined) => waitInCall(process.pid, line, none, calls);

  it("that reads has its descriptor", () => {
    expect(wait(`0 0x3 0x7f1ff8a4c000 0x20000 0x0 0x0 0x0 ${STACK}\n`)).toEqual({ for: "input", fd: 3 });
  });

  it("that waits for children is recognized", () => {
    expect(wait(`61 0xffffffff 0x7fffcebe4f1c 0x0 0x0 0x0 0x0 ${STACK}\n`)).toEqual({ for: "children" });
  });

  it("that is unknown, or is restarted after a stop, reveals nothing more", () => {
    expect(wait(`230 0x0 0x0 0x7ffdb9212bf0 0x0 0x0 0x0 ${STACK}\n`)).toEqual({ for: "something" });
    expect(wait(`219 0x0 0x0 0x7ffdb9212bf0 0x0 0x0 0x0 ${STACK}\n`)).toEqual({ for: "something" });
  });

  it.each([
    ["that cannot be read", undefined],
    ["of a running thread", "running\n"],
    ["of a thread outside of any system call", `-1 ${STACK}\n`],
    ["of a 32-bit program, which has other numbers", "0 0x3 0xff8a4c00 0x20000 0x0 0x0 0x0 0xffa1bbd8 0xf7f2503\n"],
    ["that is empty", ""],
  ])("%s reveals nothing", (_what, line) => {
    expect(wait(line)).toBeUndefined();
  });

  it("has arguments in the memory of its process, which reveal nothing if they cannot be read", () => {
    const poll = new Map([[7, "poll"]] as const);
    expect(waitInCall(process.pid, `7 0x10 0x1 0xffffffff 0x0 0x0 0x0 ${STACK}`, none, poll)).toEqual({
      for: "something",
    });
    expect(waitInCall(2 ** 22 + 1, `7 0x10 0x1 0x0 0x0 0x0 0x0 ${STACK}`, none, poll)).toEqual({ for: "something" });
    expect(waitInCall(process.pid, `7 0x10 0xffffff 0x0 0x0 0x0 0x0 ${STACK}`, none, poll)).toEqual({
      for: "something",
    });
  });
});

describe("a function of the kernel", () => {
  it.each([
    ["pipe_wait", { for: "input", kind: "pipe" }],
    ["pipe_read", { for: "input", kind: "pipe" }],
    ["anon_pipe_read", { for: "input", kind: "pipe" }],
    ["n_tty_read", { for: "input", kind: "tty" }],
    ["wait_woken", { for: "input", kind: "tty" }],
    ["do_wait", { for: "children" }],
    ["sigsuspend.isra.0", { for: "children" }],
    ["do_epoll_wait", { for: "something" }],
    ["pipe_write", { for: "something" }],
    ["0", { for: "something" }],
    ["", { for: "something" }],
  ])("%j is the sleep of a thread that waits for %j", (name, wait) => {
    expect(waitInFunction(name)).toEqual(wait);
  });
});
