// environment/*, and methods that do not exist (section 5).
import { outcome } from "../observe.mjs";

export const environment = [
  {
    id: "environment/status",
    section: "5",
    what: "the status is ready",
    run: async (ctx) => (await ctx.session()).ask("environment/status"),
    expect: { status: "ready" },
  },
  {
    id: "environment/info",
    section: "5",
    what: "environment/info equals the environment in initialize",
    run: async (ctx) => {
      const peer = await ctx.connect();
      const { environmentInfo } = await peer.openSession();
      const info = await peer.ask("environment/info");
      return JSON.stringify(info) === JSON.stringify(environmentInfo);
    },
    expect: true,
  },
  {
    id: "environment/fields",
    section: "5",
    what: "the environment has the shell, the system, and folders as file URIs",
    run: async (ctx) => {
      const { shell, cwd, userHomeDir, platformOs, tempDir } = await (await ctx.session()).ask("environment/info");
      const areUris = [cwd, userHomeDir, tempDir].every((uri) => uri.startsWith("file:///"));
      return { shell: shell.path.endsWith(`/${shell.name}`), platformOs, areUris };
    },
    expect: { shell: true, platformOs: "linux", areUris: true },
  },
  {
    id: "environment/shell-runs",
    section: "5",
    what: "the reported shell can be started",
    run: async (ctx) => {
      const peer = await ctx.session();
      const { shell } = await peer.ask("environment/info");
      return ctx.run(peer, { argv: [shell.path, "-c", "echo hi"] });
    },
    expect: { exitCode: 0, stdout: "hi\n", stderr: "", pty: "" },
  },
  {
    id: "environment/no-such-methods",
    section: "5",
    what: "these methods do not exist",
    run: async (ctx) => {
      const peer = await ctx.session();
      const answers = {};
      for (const method of ["shutdown", "ping", "fs/stat", "fs/chmod", "initialized"])
        answers[method] = outcome(await peer.call(method, {}));
      return answers;
    },
    expect: { shutdown: -32601, ping: -32601, "fs/stat": -32601, "fs/chmod": -32601, initialized: -32601 },
  },
];
