// `execwire serve`: runs processes for other terminals and programs. They end with the server.
import { type Command, Option } from "commander";
import { limits as defaults, type Limits, present, type SandboxPolicy } from "../../../protocol/index.ts";
import { SERVER_VARIABLES } from "../../codex/server/child-environment.ts";
import { codexDialect, fileHelperRules } from "../../codex/server/codex-dialect.ts";
import { createSupervisor } from "../../local/supervisor.ts";
import { type ListenAddress, serve } from "../../server/server.ts";
import type { OnSupervisorDeath } from "../../spawn/guard/guard.ts";
import type { SpawnerName } from "../../spawn/load-spawner.ts";
import { hasProc } from "../../spawn/proc/proc.ts";
import { CLOSE } from "../../transport/transport.ts";
import { collect, milliseconds, parseSeconds, spawnerOption } from "../options.ts";
import { write } from "../output.ts";
import { NoServerError, say, sayStray, UsageError } from "../report.ts";
import { addSandboxOptions, SANDBOX_HELP, type SandboxOptions, sandboxPolicy } from "../sandbox-options.ts";
import { type Credentials, loadCredentials, publish } from "../server/credentials.ts";
import { allowHeapGrowth } from "../server/heap-growth.ts";
import { parseListen } from "../server/listen-address.ts";
import { sayChange } from "../server/process-log.ts";
import { RefusalLog } from "../server/refusal-log.ts";
import { acceptStdio, relayStdio } from "../server/serve-stdio.ts";
import { findOrStartServer } from "../server/shared-server.ts";
import { isSet, ShutdownSignal } from "../server/shutdown-signal.ts";

interface ServeCommandOptions extends Omit<SandboxOptions, "sandbox"> {
  readonly listen: ListenAddress | "stdio";
  readonly auth: "token" | "none";
  readonly tokenFile?: string;
  readonly allowOrigin?: readonly string[];
  readonly sessionTtl?: number;
  readonly keepClosed?: number;
  readonly grace?: number;
  readonly spawner?: SpawnerName;
  readonly exitOnStdinClose?: boolean;
  readonly onDeath: OnSupervisorDeath;
  readonly verbose?: boolean;
  readonly shared?: boolean;
  readonly sandboxDefault?: SandboxOptions["sandbox"];
}

/** Defines the options of `serve`. */
export function define(command: Command): void {
  const listen = new Option("--listen <address>", "ws://HOST:PORT (port 0: any free port), unix:PATH, or stdio");
  command
    .addOption(listen.argParser(parseListen).default({ host: "127.0.0.1", port: 0 }, "ws://127.0.0.1:0"))
    .addOption(new Option("--auth <kind>", "how clients authenticate").choices(["token", "none"]).default("token"))
    .option("--token-file <file>", "file with the token, created if it does not exist (default: a new token each time)")
    .option("--allow-origin <origin>", "let web pages of this origin connect; may be repeated", collect)
    .option(
      "--session-ttl <seconds>",
      "how long a client may be disconnected before its processes are ended",
      parseSeconds,
    )
    .option("--keep-closed <seconds>", "how long an ended process can still be read", parseSeconds)
    .option("--grace <seconds>", "time from SIGTERM to SIGKILL", parseSeconds)
    .addOption(spawnerOption())
    .option("--exit-on-stdin-close", "shut down when stdin ends, and so with the program that started it")
    .addOption(
      new Option("--on-death <what>", "what happens to its processes when it is killed by SIGKILL (kill: Linux only)")
        .choices(["kill", "keep"])
        .default("kill"),
    )
    .option(
      "--shared",
      "with --listen stdio: connect the client to your server on this machine, which is started if there is none",
    )
    .option("-v, --verbose", "report on stderr which processes begin and end, and every refused connection")
    .addHelpText("after", HELP)
    .action(host);
  addSandboxOptions(command, "--sandbox-default");
}

async function host(options: ServeCommandOptions): Promise<void> {
  if (options.tokenFile !== undefined && (options.auth === "none" || options.listen === "stdio")) {
    throw new UsageError("--token-file cannot be used with --auth none or --listen stdio, which need no token");
  }
  if (options.shared) {
    if (options.listen !== "stdio") throw new UsageError("--shared needs --listen stdio");
    if (options.sandboxDefault)
      throw new UsageError("--shared cannot be used with --sandbox-default: the shared server may have none");
    return shareServer();
  }
  const { grace, sessionTtl, keepClosed, spawner } = options;
  const limits: Partial<Limits> = {
    ...milliseconds("graceMs", grace),
    ...milliseconds("sessionTtlMs", sessionTtl),
    ...milliseconds("closedRetentionMs", keepClosed),
  };
  allowHeapGrowth();
  const shutdown = new ShutdownSignal();
  if (options.exitOnStdinClose || isSet(process.env.CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE)) shutdown.watchStdin();
  // For this program only, not for the children of any client.
  for (const name of Object.keys(process.env))
    if (SERVER_VARIABLES.includes(name.toUpperCase())) delete process.env[name];
  const sandbox = await sandboxOfAll(options);
  const onSupervisorDeath = hasProc() ? options.onDeath : "keep";
  const supervisor = createSupervisor(
    present({ subreaper: true, onSupervisorDeath, limits, onError: sayStray, spawner, sandbox }),
  );
  if (options.verbose) supervisor.changes$.subscribe(sayChange);
  const cleanups: (() => unknown)[] = [() => shutdown.release(), () => supervisor.close()];
  try {
    const { listen } = options;
    const dialect = await codexDialect({ sandbox });
    if (listen === "stdio") {
      const server = await serve(supervisor, { auth: { kind: "none" }, limits, dialect });
      cleanups.push(() => server.close());
      cleanups.push(acceptStdio(server, defaults.frameBytes, () => shutdown.request("the client is gone")));
      say("serving stdin and stdout");
    } else {
      const credentials = loadCredentials(options);
      cleanups.push(credentials.remove);
      const server = await serve(supervisor, {
        auth: credentials.auth,
        listen,
        limits,
        dialect,
        allowedOrigins: options.allowOrigin ?? [],
        onRefused: new RefusalLog(options.verbose).add,
      });
      cleanups.push(() => server.close());
      cleanups.push(await announce(server.url as string, credentials));
    }
    say(`shutting down, ending all processes: ${await shutdown.requested}`);
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
}

/** The policy for every command, with this directory as the workspace. Rejects if it cannot be enforced here. */
async function sandboxOfAll({ sandboxDefault, ...options }: ServeCommandOptions): Promise<SandboxPolicy | undefined> {
  const policy = sandboxPolicy(present({ ...options, sandbox: sandboxDefault }), process.cwd());
  if (!policy) return undefined;
  // Clients of the Codex dialect access files through a helper in the sandbox.
  const sandbox = { ...policy, files: [...policy.files, ...(await fileHelperRules())] };
  const probe = createSupervisor(present({ spawner: options.spawner, sandbox, onError: sayStray }));
  try {
    await probe.start({ argv: ["/bin/sh", "-c", ":"], cwd: "/" });
  } finally {
    await probe.close({ graceMs: 0 });
  }
  return sandbox;
}

/** Relays between stdin and stdout and the server of this user. */
async function shareServer(): Promise<void> {
  const server = await findOrStartServer(sharedArguments(process.argv.slice(3)));
  const next = `if that stays so, end that server with all its processes, and connect again: kill ${server.pid}`;
  const end = await relayStdio(server).catch((error: Error) => {
    throw new NoServerError(`the server with pid ${server.pid} cannot be used: ${error.message}; ${next}`, {
      cause: error,
    });
  });
  if (end?.side === "far" && end.code !== CLOSE.normal) {
    throw new NoServerError(`the server ended the connection: ${end.reason || end.code}`);
  }
}

/** What the server gets, if it is started: all options but those for the relay. */
function sharedArguments(args: readonly string[]): readonly string[] {
  const listenAt = args.indexOf("--listen");
  return args.filter(
    (arg, index) => !/^--(shared|listen(=.*)?)$/.test(arg) && (listenAt < 0 || index !== listenAt + 1),
  );
}

/** Announces the URL on stderr, to other terminals, and last on stdout, where a parent may wait for it. */
async function announce(url: string, credentials: Credentials): Promise<() => void> {
  say(`listening on ${url}${credentials.tokenFile ? `, token in ${credentials.tokenFile}` : ""}`);
  for (const warning of credentials.warnings) say(warning);
  const withdraw = await publish(url, credentials);
  // A parent that does not need the URL may have closed our stdout.
  await write("stdout", `${url}\n`).catch(() => undefined);
  return withdraw;
}

const HELP = `
When the server is ready, it prints its URL as the only line on stdout; messages go to stderr.
SIGTERM or SIGINT ends it with all its processes (exit code 0); a second signal kills them at once.
SIGHUP, the end of its terminal, does so too, except under nohup.
If the server itself is killed (SIGKILL), a small guard process kills them. With --on-death keep they
stay: on pipes they run on, unless they print; those on a terminal get SIGHUP, since it closes.

Clients need the token. It is in a file that only you can read, by default in the runtime directory
($XDG_RUNTIME_DIR/execwire or /tmp/execwire-UID), where the other commands find it. A web page may
connect only with --allow-origin. Connections are not encrypted: to reach another machine, tunnel
them through ssh.

With --sandbox-default, every command of every client runs in that sandbox, with this directory as the
working directory. A client may ask for a stricter one; anything else is refused. File operations of
Codex clients run in it too.
${SANDBOX_HELP}

Examples:
  execwire serve                                          in one terminal, and in another:
  execwire run --remote -t -- bash
  execwire serve --sandbox-default workspace-write        clients can change only this directory
  execwire serve --listen unix:/run/user/1000/exec.sock   a unix socket that only you can access
  ssh host execwire serve --listen stdio                  as connect({ command }) starts it; all ends
                                                          with the connection
  ssh host execwire serve --listen stdio --shared         the same, but the processes outlive it:
                                                          they run in a server on that machine`;
