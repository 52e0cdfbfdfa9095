// `execwire serve`: processes for other terminals and programs, until it is told to end; then they end too.
import { type Command, Option } from "commander";
import { limits as defaults, type Limits, present } from "../../../protocol/index.ts";
import { SERVER_VARIABLES } from "../../codex/server/child-environment.ts";
import { codexDialect } from "../../codex/server/codex-dialect.ts";
import { createSupervisor } from "../../local/supervisor.ts";
import { type ListenAddress, serve } from "../../server/server.ts";
import type { OnSupervisorDeath } from "../../spawn/guard.ts";
import type { SpawnerName } from "../../spawn/load-spawner.ts";
import { hasProc } from "../../spawn/proc.ts";
import { EndRequest, isSet } from "../end-request.ts";
import { letHeapGrow } from "../heap-growth.ts";
import { parseListen } from "../listen-address.ts";
import { collect, milliseconds, parseSeconds, spawnerOption } from "../options.ts";
import { write } from "../output.ts";
import { say, UsageError } from "../report.ts";
import { type Admission, admit, publish } from "../serve-locally.ts";
import { acceptStdio } from "../serve-stdio.ts";

interface ServeCommandOptions {
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
}

/** Says what `serve` takes. */
export function define(command: Command): void {
  const listen = new Option("--listen <address>", "ws://HOST:PORT (port 0: any free one), unix:PATH, or stdio");
  command
    .addOption(listen.argParser(parseListen).default({ host: "127.0.0.1", port: 0 }, "ws://127.0.0.1:0"))
    .addOption(new Option("--auth <kind>", "who may connect").choices(["token", "none"]).default("token"))
    .option("--token-file <file>", "read the token there, or make one there (default: a new one each time)")
    .option("--allow-origin <origin>", "let web pages of this origin connect; repeat for more", collect)
    .option("--session-ttl <seconds>", "how long a client may be gone before its processes are ended", parseSeconds)
    .option("--keep-closed <seconds>", "how long an ended process can still be read", parseSeconds)
    .option("--grace <seconds>", "time from SIGTERM to SIGKILL when a process must end", parseSeconds)
    .addOption(spawnerOption())
    .option("--exit-on-stdin-close", "end when stdin does: together with the program that started it")
    .addOption(
      new Option("--on-death <what>", "what becomes of its processes when it is killed with SIGKILL (kill: Linux only)")
        .choices(["kill", "keep"])
        .default("kill"),
    )
    .addHelpText("after", HELP)
    .action(host);
}

async function host(options: ServeCommandOptions): Promise<void> {
  if (options.tokenFile !== undefined && (options.auth === "none" || options.listen === "stdio")) {
    throw new UsageError("--token-file has no meaning without a token: leave out --auth none or --listen stdio");
  }
  const { grace, sessionTtl, keepClosed, spawner } = options;
  const limits: Partial<Limits> = {
    ...milliseconds("graceMs", grace),
    ...milliseconds("sessionTtlMs", sessionTtl),
    ...milliseconds("closedRetentionMs", keepClosed),
  };
  letHeapGrow();
  const end = new EndRequest();
  if (options.exitOnStdinClose || isSet(process.env.CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE)) end.watchStdin();
  // For this program only, not for the children of any client.
  for (const name of SERVER_VARIABLES) delete process.env[name];
  const onError = (error: unknown) => say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const onSupervisorDeath = hasProc() ? options.onDeath : "keep";
  const supervisor = createSupervisor(present({ subreaper: true, onSupervisorDeath, limits, onError, spawner }));
  const undo: (() => unknown)[] = [() => end.release(), () => supervisor.close()];
  try {
    const { listen } = options;
    const dialect = await codexDialect();
    if (listen === "stdio") {
      const server = await serve(supervisor, { auth: { kind: "none" }, limits, dialect });
      undo.push(() => server.close());
      undo.push(acceptStdio(server, defaults.frameBytes, () => end.request("the client is gone")));
      say("serving stdin and stdout");
    } else {
      const admission = admit(options);
      undo.push(admission.forget);
      const server = await serve(supervisor, {
        auth: admission.auth,
        listen,
        limits,
        dialect,
        allowedOrigins: options.allowOrigin ?? [],
      });
      undo.push(() => server.close());
      undo.push(await announce(server.url as string, admission));
    }
    say(`ending, with all processes: ${await end.requested}`);
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

/** Tells the log, other terminals, and last whoever waits for the line on stdout. */
async function announce(url: string, admission: Admission): Promise<() => void> {
  say(`listening on ${url}${admission.tokenFile ? `, token in ${admission.tokenFile}` : ""}`);
  for (const warning of admission.warnings) say(warning);
  const withdraw = await publish(url, admission);
  // Whoever does not want to know the address may close our stdout.
  await write("stdout", `${url}\n`).catch(() => undefined);
  return withdraw;
}

const HELP = `
Prints its URL as the only line on stdout when it is ready; what happens is told on stderr. SIGTERM or
SIGINT ends it with all its processes (exit code 0); a second one kills them at once. When it is killed
itself (SIGKILL), a small process beside it kills them, unless --on-death says keep.

Clients must know the token. It is in a file that only you can read, by default in the runtime directory
($XDG_RUNTIME_DIR/execwire or /tmp/execwire-UID), where the other commands find it by themselves. A browser
page may connect only with --allow-origin. Connections are not encrypted: to reach another machine, let
ssh carry them.

Examples:
  execwire serve                                          in one terminal, and in another:
  execwire run --remote -t -- bash
  execwire serve --listen unix:/run/user/1000/exec.sock   a unix socket, for you alone
  ssh host execwire serve --listen stdio                  what connect({ command }) of the library starts`;
