// The same dialect on stdin and stdout, one message per line (section 1.3, stdio).
import { eventually, isRunning, outcome } from "../observe.mjs";

export const stdio = [
  {
    id: "stdio/session",
    section: "1.1",
    what: "a session works over stdin and stdout",
    run: async (ctx) => {
      const peer = await ctx.stdio();
      await peer.openSession();
      return ctx.run(peer, { sh: "echo out; echo err >&2; exit 3" });
    },
    expect: { exitCode: 3, stdout: "out\n", stderr: "err\n", pty: "" },
  },
  {
    id: "stdio/blank-lines",
    section: "1.3",
    what: "blank lines are ignored, and a line may end with CR LF",
    run: async (ctx) => {
      const peer = await ctx.stdio();
      peer.sendRaw("\n\n");
      await peer.openSession();
      const reply = await peer.exchange(77, '{"id":77,"method":"environment/status"}\r');
      return { answer: outcome(reply), messages: peer.received.length };
    },
    expect: { answer: "ok", messages: 2 },
  },
  {
    id: "stdio/malformed",
    section: "1.5",
    what: "a malformed line is answered with id -1, and the next line is read",
    run: async (ctx) => {
      const peer = await ctx.stdio();
      await peer.openSession();
      peer.sendRaw("{oops");
      const { error } = await peer.waitFor(({ id }) => id === -1);
      return { code: error.code, serving: await peer.isServing() };
    },
    expect: { code: -32600, serving: true },
  },
  {
    id: "stdio/end",
    section: "1.3",
    what: "the end of stdin ends the server with exit code 0, and its children too",
    run: async (ctx) => {
      const peer = await ctx.stdio();
      await peer.openSession();
      const { processId, ...spec } = ctx.spec({ sh: "echo $$; exec sleep 30", env: { PATH: "/bin" } });
      await peer.ask("process/start", { processId, ...spec });
      await peer.waitForText(processId, "\n");
      const pid = Number(peer.textOf(processId));
      peer.wire.close();
      const { code } = await peer.closed;
      return { code, childGone: await eventually(async () => !(await isRunning(pid))) };
    },
    expect: { code: 0, childGone: true },
  },
];
