// Runs commands under a policy that the kernel enforces: bubblewrap makes the namespaces and mounts, a seccomp filter denies what
// they leave open. This file knows the order of the programs in front of the command, and how each step fails.
//
// env        ignores signals, so that Ctrl-C and SIGTERM reach the command and not bubblewrap, which would end it at once
// prlimit    if the policy has limits
// nsenter    into a managed network, if the policy has one
// bwrap      its arguments and the filter come by descriptor: no secret in /proc/PID/cmdline, no limit of length
//   env      default signals again
//   bash     reports that the set-up is complete, then executes the command with its own name (argv[0])
//     the command
//
// Each executes the next, so that the pid of the child is bwrap's. bwrap exits as the command does, with 128+n after signal n.
import { execFile } from "node:child_process";
import { closeSync } from "node:fs";
import type { SandboxPolicy } from "../../protocol/index.ts";
import { encodeBytes } from "../spawn/byte-strings.ts";
import type { Launch, SandboxCalls } from "../spawn/child.ts";
import { checkDirectory, spawnFailed } from "../spawn/spawn-error.ts";
import { ownDirectory } from "../spawn/start-state.ts";
import { fileView } from "./file-view.ts";
import { type Helpers, refuseWritable, SYSTEM_HELPERS, trustHelpers, unavailable } from "./helpers.ts";
import { Placeholders } from "./placeholders.ts";
import type { SandboxNetwork } from "./sandbox-network.ts";
import { seccompFilter } from "./seccomp.ts";
import { hintFor } from "./unavailable-hints.ts";

/** A launch inside a sandbox. */
export interface SandboxedLaunch {
  readonly launch: Launch;
  /** The read end of a pipe: a byte arrives when the command is about to run; the end without one means the set-up failed. */
  readonly ready: number;
  /** Closes our copies of what the child inherits: call it after the spawn. */
  readonly closeInherited: () => void;
  /** Removes what the sandbox left on the host: call it after the exit. */
  readonly cleanUp: () => void;
}

/** Everything whose default action would end or stop bubblewrap, and that can be ignored. */
const SIGNALS = "HUP,INT,QUIT,USR1,USR2,PIPE,ALRM,TERM,TSTP,TTIN,TTOU,XCPU,XFSZ,VTALRM,PROF,POLL,PWR";
const ISOLATION = [
  "--die-with-parent",
  "--unshare-user",
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
  // As root, bubblewrap would keep all capabilities, and the command could remount what is read-only.
  "--cap-drop",
  "ALL",
  "--disable-userns",
];
const PROBE_TIMEOUT_MS = 10_000;

/** Wraps the commands of one supervisor. */
export class Launcher {
  readonly #calls: SandboxCalls;
  readonly #paths: Helpers;
  readonly #placeholders = new Placeholders();
  #helpers: Promise<Helpers> | undefined;

  constructor(calls: SandboxCalls, helpers: Helpers = SYSTEM_HELPERS) {
    this.#calls = calls;
    this.#paths = helpers;
  }

  /**
   * Resolves with the real paths of the helpers if sandboxes work here; rejects with SANDBOX_UNAVAILABLE and a hint. The first
   * call runs an empty sandbox.
   */
  async probe(): Promise<Helpers> {
    return await this.#trusted();
  }

  /**
   * Wraps a launch. Rejects with SANDBOX_UNAVAILABLE, or with INVALID_PARAMS for a policy that cannot be enforced here. What the
   * command itself needs is looked up inside the sandbox: a program hidden there makes it exit with 127.
   */
  async prepare(launch: Launch, policy: SandboxPolicy, managed?: SandboxNetwork): Promise<SandboxedLaunch> {
    const helpers = await this.#trusted();
    const { unixSockets = false, limits } = policy;
    // Anything but an explicit `full` has no way to the host's network, except through a proxy.
    const network = policy.network === "full" ? "full" : "none";
    const filter = seccompFilter({ network, unixSockets });
    if (!filter) throw unavailable(`there is no system-call filter for the architecture ${process.arch}`);
    const cwd = directoryOf(launch);
    const missing = await checkDirectory(cwd);
    if (missing) throw missing;
    const view = await fileView(policy.files, cwd);
    refuseWritable(helpers, view.writable);
    const release = this.#placeholders.hold(view.placeholders);
    const opened: number[] = [];
    const placed = launch.placedFds?.map(({ to }) => to) ?? [];
    /** The descriptor keeps its number in the sandbox, so it must not be one that another gets there. */
    const open = (make: () => number) => {
      const fd = make();
      opened.push(fd);
      if (!placed.includes(fd)) return fd;
      const other = make();
      opened.push(other);
      return other;
    };
    const closeInherited = () => {
      for (const fd of opened.splice(0)) closeSync(fd);
    };
    try {
      const seccomp = open(() => this.#calls.memoryFile(filter));
      const args = [
        ...ISOLATION,
        ...(network === "none" && !managed ? ["--unshare-net"] : []),
        "--seccomp",
        String(seccomp),
        ...view.args,
        "--chdir",
        cwd,
        "--clearenv",
        ...launch.env.flatMap(setVariable),
      ];
      const content = encodeBytes(args.map((arg) => `${arg}\0`).join(""));
      const argsFile = open(() => this.#calls.memoryFile(content));
      const [ready, readyWriter] = this.#calls.pipe();
      opened.push(readyWriter);
      const [name = launch.file, ...rest] = launch.argv;
      const argv = [
        helpers.env,
        `--ignore-signal=${SIGNALS}`,
        ...limitArgs(helpers.prlimit, limits),
        ...networkArgs(helpers.nsenter, managed),
        helpers.bubblewrap,
        "--args",
        String(argsFile),
        "--",
        helpers.env,
        `--default-signal=${SIGNALS}`,
        helpers.bash,
        "-p",
        "-c",
        `echo >&${readyWriter}; exec ${readyWriter}>&-; exec -a "$0" -- "$@"`,
        name,
        launch.file,
        ...rest,
      ];
      const inheritFds = [...launch.inheritFds, ...opened].filter((fd) => !placed.includes(fd));
      // An empty environment: LD_PRELOAD and the like are meant for the command, and would act outside of its sandbox.
      const wrapped: Launch = { ...launch, file: helpers.env, argv, cwd: "/", env: [], inheritFds };
      return { launch: wrapped, ready, closeInherited, cleanUp: release };
    } catch (error) {
      closeInherited();
      release();
      throw error;
    }
  }

  #trusted(): Promise<Helpers> {
    this.#helpers ??= this.#probe();
    return this.#helpers;
  }

  async #probe(): Promise<Helpers> {
    const helpers = await trustHelpers(this.#paths);
    const view = await fileView([{ path: { named: "root" }, access: "read" }]);
    const args = [
      ...ISOLATION,
      "--unshare-net",
      ...view.args,
      "--",
      helpers.env,
      "--default-signal=HUP",
      helpers.bash,
      "-p",
      "-c",
      ":",
    ];
    const options = { env: {}, cwd: "/", timeout: PROBE_TIMEOUT_MS };
    await new Promise<void>((resolve, reject) => {
      execFile(helpers.bubblewrap, args, options, (error, _stdout, stderr) => {
        if (!error) return resolve();
        const said = stderr.trim() || error.message;
        reject(unavailable(`${hintFor(said) ?? "bubblewrap cannot set one up"} [${said}]`));
      });
    });
    return helpers;
  }
}

/** Arguments for an entry of the environment; none for one without a name, which bubblewrap cannot set. */
function setVariable(entry: string): string[] {
  const equals = entry.indexOf("=");
  return equals > 0 ? ["--setenv", entry.slice(0, equals), entry.slice(equals + 1)] : [];
}

/** The directory to enter in the sandbox. Throws SPAWN_FAILED if ours was removed. */
function directoryOf({ cwd = ownDirectory() }: Launch): string {
  if (cwd !== undefined) return cwd;
  throw spawnFailed("cwd-not-found", "the working directory was removed, so it cannot be entered in a sandbox", ".");
}

/** The user namespace first: it has the right to enter the other one. */
function networkArgs(nsenter: string, managed: SandboxNetwork | undefined): readonly string[] {
  if (!managed) return [];
  const { user, net } = managed.paths;
  return [nsenter, `--user=${user}`, "--preserve-credentials", `--net=${net}`, "--"];
}

function limitArgs(prlimit: string, limits: SandboxPolicy["limits"]): readonly string[] {
  const { cpuSeconds, openFiles, fileBytes, coreBytes } = limits ?? {};
  const options = Object.entries({ cpu: cpuSeconds, nofile: openFiles, fsize: fileBytes, core: coreBytes })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `--${name}=${value}`);
  return options.length === 0 ? [] : [prlimit, ...options, "--"];
}
