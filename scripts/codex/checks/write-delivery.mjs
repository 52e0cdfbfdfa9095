// process/write: order, size, terminals, and children that do not read (sections 1.6 and 3).
import { CAT, write } from "./writes.mjs";

const PATH = { PATH: "/usr/bin:/bin" };

export const writeDelivery = [
  {
    id: "write/order",
    section: "1.6",
    what: "writes sent without waiting arrive in order",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, CAT);
      const lines = Array.from({ length: 500 }, (_, number) => `${number}\n`);
      await Promise.all(lines.map((line, number) => write(peer, processId, line, `w${number}`)));
      await peer.waitForText(processId, "499\n");
      return peer.textOf(processId) === lines.join("");
    },
    expect: true,
  },
  {
    id: "write/large",
    section: "3",
    what: "8 MiB written in chunks of 1 MiB are echoed completely",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, CAT);
      const chunk = (number) => Buffer.alloc(1024 * 1024, 65 + number);
      for (let number = 0; number < 8; number++) await write(peer, processId, chunk(number), `${number}`);
      await peer.waitFor(
        () =>
          peer.eventsOf(processId).reduce((sum, { params }) => sum + (params.chunk.length * 3) / 4, 0) >=
          8 * 1024 * 1024,
      );
      const bytes = peer.bytesOf(processId);
      return bytes.equals(Buffer.concat([0, 1, 2, 3, 4, 5, 6, 7].map(chunk)));
    },
    expect: true,
  },
  {
    id: "write/tty-end",
    section: "3",
    what: "byte 4 ends the input of a tty child, and a tty echoes",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, { ...CAT, tty: true });
      const statuses = [await write(peer, processId, "hi\n", "1"), await write(peer, processId, "\x04", "2")];
      return { statuses, ...(await peer.ended(processId)) };
    },
    expect: { statuses: ["accepted", "accepted"], exitCode: 0, stdout: "", stderr: "", pty: "hi\r\nhi\r\n" },
  },
  {
    id: "write/tty-interrupt",
    section: "3",
    what: "byte 3 interrupts a tty child",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, {
        sh: "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done",
        env: PATH,
        tty: true,
      });
      await peer.waitForText(processId, "ready");
      const status = await write(peer, processId, "\x03", "1");
      const { exitCode, pty } = await peer.ended(processId);
      return { status, exitCode, caught: pty.includes("caught") };
    },
    expect: { status: "accepted", exitCode: 5, caught: true },
  },
  {
    id: "write/after-exit",
    section: "3",
    what: "a write after the exit is accepted and dropped",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, { sh: "exit 0", pipeStdin: true });
      await peer.ended(processId);
      return write(peer, processId, "x", "1");
    },
    expect: "accepted",
    better: { expect: "stdinClosed", why: "input that no process can read is not accepted" },
  },
  {
    id: "write/after-terminate",
    section: "3",
    what: "a write after process/terminate is -32603",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, CAT);
      await peer.ask("process/terminate", { processId });
      await peer.ended(processId);
      return write(peer, processId, "x", "1");
    },
    expect: -32603,
    better: { expect: "stdinClosed", why: "an ended process has no stdin, however it ended" },
  },
  {
    id: "write/does-not-block",
    section: "3",
    what: "a full queue of writes to a child that does not read blocks the connection",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, { sh: "echo $$; exec sleep 60", env: PATH, pipeStdin: true });
      await peer.waitForText(processId, "\n");
      // A blocked connection cannot end the child.
      const pid = Number(peer.textOf(processId));
      ctx.defer(() => process.kill(pid, "SIGKILL"));
      const chunk = "x".repeat(65_536);
      for (let number = 0; number < 200; number++) write(peer, processId, chunk, `${number}`).catch(() => {});
      // This check is about time: for 1.5 s, no other request of the connection is answered.
      const status = await peer.call("environment/status", {}, 1_500).then(
        () => "answered",
        () => "held up",
      );
      return status;
    },
    expect: "held up",
    better: { expect: "answered", why: "a full stdin blocks only its own writes" },
  },
];
