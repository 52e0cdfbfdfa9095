// process/signal and process/terminate: which processes they reach and what they answer (section 3).
import { eventually, isRunning, outcome, refusal } from "../observe.mjs";

const PATH = { PATH: "/usr/bin:/bin" };

const signal = (peer, processId, name = "interrupt") => peer.call("process/signal", { processId, signal: name });

/** Starts `sh`, acts once it has printed `ready`, and observes how it ended. */
const ending = (id, what, { act, better, expect, ...options }) => ({
  id: `signal-terminate/${id}`,
  section: "3",
  what,
  run: async (ctx) => {
    const peer = await ctx.session();
    const processId = await ctx.start(peer, { env: PATH, ...options });
    await peer.waitForText(processId, "ready");
    const answer = await act(peer, processId);
    const { exitCode, stdout, pty } = await peer.ended(processId);
    return {
      answer: answer.result ?? outcome(answer),
      exitCode,
      printed: (stdout + pty).replaceAll("\r", "").replace("ready\n", ""),
    };
  },
  expect,
  ...(better && { better }),
});

const interrupt = (peer, processId) => signal(peer, processId);
const terminate = (peer, processId) => peer.call("process/terminate", { processId });
const CATCHING = "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done";
const TERMINATED = { answer: { running: true }, exitCode: 137, printed: "" };
const ON_A_TTY = "termination by a signal is 128 + n, on a terminal too";

/** Terminates a process with a background child, and observes whether the child is gone soon. */
const reaching = (id, what, background, expect, better) => ({
  id: `signal-terminate/${id}`,
  section: "3",
  what,
  run: async (ctx) => {
    const peer = await ctx.session();
    const processId = await ctx.start(peer, { sh: `${background} & echo $!; wait`, env: PATH });
    await peer.waitForText(processId, "\n");
    const pid = Number(peer.textOf(processId));
    ctx.defer(async () => (await isRunning(pid)) && process.kill(pid, "SIGKILL"));
    await terminate(peer, processId);
    await peer.ended(processId);
    return { gone: await eventually(async () => !(await isRunning(pid)), 2_000) };
  },
  expect,
  ...(better && { better }),
});

export const signalTerminate = [
  ending("interrupt", "interrupt is SIGINT", {
    sh: CATCHING,
    act: interrupt,
    expect: { answer: {}, exitCode: 5, printed: "caught\n" },
  }),
  ending("interrupt-death", "death by interrupt is 130", {
    sh: "echo ready; exec sleep 20",
    act: interrupt,
    expect: { answer: {}, exitCode: 130, printed: "" },
  }),
  ending("interrupt-group", "interrupt reaches the whole group", {
    sh: "trap ':' INT; (trap 'echo child; exit' INT; echo ready; while :; do sleep 0.05; done); exit 0",
    act: interrupt,
    expect: { answer: {}, exitCode: 0, printed: "child\n" },
  }),
  ending("interrupt-tty", "interrupt is a signal, not a character: a tty without isig changes nothing", {
    sh: `stty -isig -echo; ${CATCHING}`,
    tty: true,
    act: interrupt,
    expect: { answer: {}, exitCode: 5, printed: "caught\n" },
  }),
  ending("interrupt-tty-death", "death by interrupt on a tty is 1", {
    sh: "echo ready; exec sleep 20",
    tty: true,
    act: interrupt,
    expect: { answer: {}, exitCode: 1, printed: "" },
    better: { expect: { answer: {}, exitCode: 130, printed: "" }, why: ON_A_TTY },
  }),
  {
    id: "signal-terminate/other-signals",
    section: "3",
    what: "any other signal is refused",
    run: async (ctx) => {
      const peer = await ctx.session();
      return [
        refusal(await signal(peer, "none", "terminate")),
        refusal(await peer.call("process/signal", { processId: "none" })),
      ];
    },
    expect: [
      { code: -32602, message: "unknown variant `terminate`, expected `interrupt`" },
      { code: -32602, message: "missing field `signal`" },
    ],
  },
  {
    id: "signal-terminate/interrupt-unknown",
    section: "3",
    what: "an interrupt for an unknown or ended process succeeds",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer);
      await peer.ended(processId);
      return [(await signal(peer, "none")).result, (await signal(peer, processId)).result];
    },
    expect: [{}, {}],
  },
  ending("terminate", "terminate kills at once", {
    sh: "echo ready; exec sleep 20",
    act: terminate,
    expect: TERMINATED,
  }),
  ending("terminate-stubborn", "terminate sends no SIGTERM first", {
    sh: "trap 'echo caught' TERM; echo ready; while :; do sleep 0.05; done",
    act: terminate,
    expect: TERMINATED,
  }),
  ending("terminate-tty", "terminate on a tty is exit code 1", {
    sh: "echo ready; exec sleep 20",
    tty: true,
    act: terminate,
    expect: { ...TERMINATED, exitCode: 1 },
    better: { expect: TERMINATED, why: ON_A_TTY },
  }),
  {
    id: "signal-terminate/terminate-unknown",
    section: "3",
    what: "terminate of an unknown or ended process answers that it is not running",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer);
      await peer.ended(processId);
      return [(await terminate(peer, "none")).result, (await terminate(peer, processId)).result];
    },
    expect: [{ running: false }, { running: false }],
  },
  {
    id: "signal-terminate/terminate-after-exit",
    section: "3",
    what: "terminate after the exit answers that it is not running and does not touch a grandchild",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, { sh: "(sleep 1; echo late) & echo main; exit 3", env: PATH });
      await peer.waitForPush("process/exited", processId);
      const { result } = await terminate(peer, processId);
      return { ...result, ...(await peer.ended(processId)) };
    },
    expect: { running: false, exitCode: 3, stdout: "main\nlate\n", stderr: "", pty: "" },
  },
  reaching("terminate-group", "terminate reaches the background children", "sleep 60", { gone: true }),
  reaching(
    "terminate-setsid",
    "a descendant in its own session survives terminate",
    "setsid sleep 60",
    { gone: false },
    {
      expect: { gone: true },
      why: "a terminated process leaves nothing behind",
    },
  ),
];
