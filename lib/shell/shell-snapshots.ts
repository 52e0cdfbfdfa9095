// Runs the start-up files of a user's shell once, and gives what they have set up to later commands. The set-up stays in memory;
// a command reads it from a descriptor that it does not see any more. A capture that fails is no error: the command runs the plain
// login shell, as it would without a snapshot.
import { closeSync } from "node:fs";
import { Socket } from "node:net";
import { type Limits, loginShell } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import { decodeBytes, encodeBytes } from "../spawn/byte-strings.ts";
import type { Child, Launch, Leftover, SandboxCalls } from "../spawn/child.ts";
import { type Captured, readCapture, replayScript } from "./replay.ts";
import { COMPLETE, SHELL_FD, SHELL_KINDS, type ShellKind } from "./shell-kinds.ts";

/** After a failed capture, the next start within this time runs the plain shell without another attempt. */
const RETRY_MS = 1000;
/** Start-up files that fail this often are given up. */
const MAX_CAPTURES = 3;
/** Where a shell looks for start-up files, and which of them it finds. */
const STARTUP_NAMES = ["HOME", "ENV", "BASH_ENV", "ZDOTDIR", "XDG_CONFIG_HOME"];

/** What a snapshot needs of its host. */
export interface SnapshotHost {
  readonly clock: Clock;
  readonly limits: Pick<Limits, "snapshotMs" | "snapshotBytes" | "snapshots">;
  /** Called once a capture has ended, with the jobs that it has left. */
  readonly onReleased: (pid: number, leftover: Leftover | undefined) => void;
}

/** One start that uses a snapshot. */
export interface SnapshotUse {
  readonly scope: string;
  /** Which files this start sees: what start-up files have read elsewhere is not for a start that may not read it. */
  readonly view: string;
  /** Whether the environment policy of this start lets a variable through that the start-up files have set. */
  readonly isKept: (name: string) => boolean;
  /** Spawns a capture, in the sandbox of this start if it has one: its start-up files are no more trusted than it is. */
  readonly spawn: (launch: Launch) => Promise<Child>;
}

/** A launch that finds the set-up. */
export interface SnapshotLaunch {
  readonly launch: Launch;
  /** To be called once it is spawned or has failed. */
  close(): void;
}

interface Entry {
  captured: Promise<Captured | undefined>;
  captures: number;
  /** No capture begins before. */
  retryAt: number;
}

const nothing = () => undefined;

/** The snapshots of one supervisor. */
export class ShellSnapshots {
  readonly #host: SnapshotHost;
  /** By scope, visible files, shell and start-up files, the least recently made first. */
  readonly #entries = new Map<string, Entry>();
  /** The captures that run, and how each is ended without waiting for its exit. */
  readonly #capturing = new Map<Child, () => void>();
  #onIdle: (() => void) | undefined;
  #isClosed = false;

  constructor(host: SnapshotHost) {
    this.#host = host;
  }

  /** Replaces the launch of a login shell; any other launch stays as it is. */
  async apply(launch: Launch, use: SnapshotUse, calls: SandboxCalls | undefined): Promise<SnapshotLaunch> {
    const language = loginShell({
      argv: [launch.file, ...launch.argv.slice(1)],
      ...(launch.argv[0] && { arg0: launch.argv[0] }),
    });
    // The number may be one that the command is to inherit.
    if (!language || !calls || launch.inheritFds.includes(SHELL_FD)) return { launch, close: nothing };
    const kind = SHELL_KINDS[language];
    const captured = await this.#captured(launch, kind, use, calls);
    if (!captured) return { launch, close: nothing };
    const [name = "", , script = "", ...rest] = launch.argv;
    const variable = kind.startupVariable && `${kind.startupVariable}=`;
    const isStartup = (entry: string) => variable !== undefined && entry.startsWith(variable);
    const startup = launch.env.find(isStartup)?.slice(variable?.length);
    const fd = calls.memoryFile(encodeBytes(replayScript(kind, captured, startup, use.isKept)));
    return {
      launch: {
        ...launch,
        argv: [name, ...kind.flags, "-c", `. /dev/fd/${SHELL_FD}\n${script}`, ...rest],
        env: launch.env.filter((entry) => !isStartup(entry)),
        placedFds: [{ from: fd, to: SHELL_FD }],
      },
      close: () => closeSync(fd),
    };
  }

  /** Kills the captures that still run, and resolves when they have ended. Later starts run the plain shell. */
  close(): Promise<void> {
    this.#isClosed = true;
    for (const child of this.#capturing.keys()) child.kill("SIGKILL", "tree");
    if (this.#capturing.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }

  /** Waits no longer for captures that do not end. */
  giveUp(): void {
    for (const release of this.#capturing.values()) release();
  }

  #captured(launch: Launch, kind: ShellKind, use: SnapshotUse, calls: SandboxCalls): Promise<Captured | undefined> {
    const { clock, limits } = this.#host;
    const variables = new Map(launch.env.map(splitEntry));
    const files = STARTUP_NAMES.map((name) => variables.get(name) ?? null);
    const key = JSON.stringify([use.scope, use.view, launch.file, kind.name, files]);
    const entry = this.#entries.get(key) ?? { captured: Promise.resolve(undefined), captures: 0, retryAt: 0 };
    const mayCapture = entry.captures < MAX_CAPTURES && clock.now() >= entry.retryAt && !this.#isClosed;
    if (!mayCapture) return entry.captured;
    if (!this.#entries.has(key)) this.#makeRoom(limits.snapshots);
    this.#entries.set(key, entry);
    entry.captures += 1;
    // Later starts wait for this capture, and never begin another one if it succeeds.
    entry.retryAt = Number.POSITIVE_INFINITY;
    entry.captured = this.#capture(launch, kind, variables, use, calls).catch(nothing);
    entry.captured.then((captured) => {
      if (!captured) entry.retryAt = clock.now() + RETRY_MS;
    });
    return entry.captured;
  }

  #makeRoom(max: number): void {
    for (const key of this.#entries.keys()) {
      if (this.#entries.size < Math.max(1, max)) return;
      this.#entries.delete(key);
    }
  }

  async #capture(
    launch: Launch,
    kind: ShellKind,
    variables: ReadonlyMap<string, string>,
    { spawn }: SnapshotUse,
    calls: SandboxCalls,
  ): Promise<Captured | undefined> {
    const [reader, writer] = calls.pipe();
    const output = this.#outputOf(reader);
    const [name = ""] = launch.argv;
    const child = await spawn({
      ...launch,
      argv: [name, "-lc", kind.capture],
      tty: undefined,
      pipeStdin: false,
      merge: true,
      inheritFds: [],
      placedFds: [{ from: writer, to: SHELL_FD }],
    }).finally(() => closeSync(writer));
    const cancel = this.#host.clock.after(this.#host.limits.snapshotMs, () => child.kill("SIGKILL", "tree"));
    const release = () => {
      if (!this.#capturing.delete(child)) return;
      cancel();
      output.end();
      // What the start-up files have left running, such as an ssh agent, serves the later commands.
      this.#host.onReleased(child.pid, child.release());
      if (this.#capturing.size === 0) this.#onIdle?.();
    };
    this.#capturing.set(child, release);
    if (this.#isClosed) child.kill("SIGKILL", "tree");
    child.events$.subscribe((event) => {
      if (event.type === "exited") release();
    });
    const text = await output.text;
    // Too much output, or none that is complete: it would go on until the time is over.
    if (text === undefined && this.#capturing.has(child)) child.kill("SIGKILL", "tree");
    return text === undefined ? undefined : readCapture(text, variables);
  }

  /** What comes out of a pipe up to the mark of a complete capture; undefined without the mark, or beyond the limit. */
  #outputOf(fd: number): { readonly text: Promise<string | undefined>; end(): void } {
    const pipe = new Socket({ fd, readable: true, writable: false });
    const chunks: Buffer[] = [];
    let bytes = 0;
    let finish = (_text: string | undefined): void => undefined;
    const text = new Promise<string | undefined>((resolve) => {
      finish = (result) => {
        pipe.destroy();
        resolve(result);
      };
    });
    const mark = Buffer.from(`\0${COMPLETE}`);
    pipe.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > this.#host.limits.snapshotBytes) return finish(undefined);
      // The mark comes last, but a job that was left running may keep the pipe open.
      const isEnd = Buffer.concat(chunks.slice(-2)).subarray(-mark.length).equals(mark);
      if (isEnd) finish(decodeBytes(Buffer.concat(chunks)));
    });
    pipe.on("error", () => finish(undefined));
    pipe.once("close", () => finish(undefined));
    // After what is in the pipe by now.
    return { text, end: () => setImmediate(() => setImmediate(() => finish(undefined))) };
  }
}

function splitEntry(entry: string): [string, string] {
  const equals = entry.indexOf("=", 1);
  return equals < 0 ? [entry, ""] : [entry.slice(0, equals), entry.slice(equals + 1)];
}
