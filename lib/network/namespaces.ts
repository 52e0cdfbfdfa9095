// Makes network namespaces, each with a listener in it that is ours. A helper process makes them, some 30 ms after its own start
// in about a millisecond each; two are kept ready, and the helper, which takes some 40 MB, ends when it has been idle.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { createRequire } from "node:module";
import { Server } from "node:net";
import type { Readable } from "node:stream";
import type { Cancel, Clock } from "../clock.ts";
import { ExecwireError, oneLine } from "../errors.ts";
import { unavailable } from "../sandbox/helpers.ts";
import { hintFor } from "../sandbox/unavailable-hints.ts";
import { NAMESPACE_SCRIPT } from "./namespace-script.ts";

/** Namespaces kept ready once one was used. */
const READY = 2;
const IDLE_MS = 60_000;
/** From a request to its answer, with the start of the helper. */
const ANSWER_MS = 10_000;
const SHOWN_CHARS = 4096;

/** A network namespace that only a sandbox will enter. */
export interface Namespace {
  /** Our descriptors of it and of the user namespace that owns it. */
  readonly net: number;
  readonly user: number;
  /** Listens in it, on `PROXY_PORT` of its loopback. */
  readonly listener: Server;
}

/** What the helper needs. */
export interface NamespacesOptions {
  readonly clock: Clock;
  /**
   * Calls the function with the path of bubblewrap, which was checked, in a way that the process it starts is not mistaken for a
   * child of the spawner. Rejects with SANDBOX_UNAVAILABLE.
   */
  readonly startHelper: <T>(start: (bubblewrap: string) => T) => Promise<T>;
}

/** The namespaces of one supervisor. */
export class Namespaces {
  readonly #options: NamespacesOptions;
  readonly #ready: Namespace[] = [];
  #making = 0;
  #helper: Promise<Helper> | undefined;
  #cancelIdle: Cancel | undefined;
  #isClosed = false;

  constructor(options: NamespacesOptions) {
    this.#options = options;
  }

  /** The caller closes all three parts. Rejects with SANDBOX_UNAVAILABLE or SANDBOX_FAILED. */
  async take(): Promise<Namespace> {
    const namespace = this.#ready.shift() ?? (await this.#make());
    // A failure is reported to the next caller, which then makes one itself.
    while (!this.#isClosed && this.#ready.length + this.#making < READY)
      void this.#make().then(
        (made) => this.#keep(made),
        () => undefined,
      );
    return namespace;
  }

  /** Ends the helper and closes what was not taken. */
  close(): void {
    this.#isClosed = true;
    for (const namespace of this.#ready.splice(0)) closeNamespace(namespace);
    this.#endHelper();
  }

  #keep(namespace: Namespace): void {
    if (this.#isClosed || this.#ready.length >= READY) return closeNamespace(namespace);
    namespace.listener.unref();
    this.#ready.push(namespace);
  }

  async #make(): Promise<Namespace> {
    if (this.#isClosed) throw new ExecwireError("CLOSED", "the supervisor is closed");
    this.#making += 1;
    this.#cancelIdle?.();
    try {
      const helper = await (this.#helper ?? this.#startHelper());
      // Its end may be noticed only after it was asked: another one is asked then, once.
      return await helper.open().catch(async (error: unknown) => {
        if (!helper.wasLost || this.#isClosed) throw error;
        return (await (this.#helper ?? this.#startHelper())).open();
      });
    } finally {
      this.#making -= 1;
      if (this.#making === 0)
        this.#cancelIdle = this.#options.clock.after(IDLE_MS, () => this.#endHelper(), { background: true });
    }
  }

  #startHelper(): Promise<Helper> {
    const { startHelper, clock } = this.#options;
    // An earlier helper may report its end after this one was started.
    const forget = () => {
      if (this.#helper === started) this.#helper = undefined;
    };
    const started = startHelper((bubblewrap) => {
      if (this.#isClosed) throw new ExecwireError("CLOSED", "the supervisor is closed");
      return new Helper(bubblewrap, clock, forget);
    });
    this.#helper = started;
    started.catch(forget);
    return started;
  }

  #endHelper(): void {
    this.#cancelIdle?.();
    this.#helper?.then((helper) => helper.end()).catch(() => undefined);
    this.#helper = undefined;
  }
}

/** Closes all of a namespace that no sandbox entered. */
export function closeNamespace({ net, user, listener }: Namespace): void {
  closeSync(net);
  closeSync(user);
  listener.close();
}

/** One call that waits for its answer. */
interface Call {
  resolve(namespace: Namespace): void;
  reject(error: ExecwireError): void;
}

/** The helper process. */
class Helper {
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  readonly #calls: Call[] = [];
  #pid: number | undefined;
  #hasEnded = false;
  #stderr = "";

  /** Calls `onEnd` when it can take no more calls. */
  constructor(bubblewrap: string, clock: Clock, onEnd: () => void) {
    this.#clock = clock;
    const koffi = createRequire(import.meta.url).resolve("koffi");
    const isolation = ["--die-with-parent", "--unshare-user", "--unshare-net", "--dev-bind", "/", "/"];
    // In its user namespace only: to make network namespaces, and to raise their loopback.
    const rights = ["--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_NET_ADMIN"];
    this.#child = spawn(
      bubblewrap,
      [...isolation, ...rights, "--", process.execPath, "-e", NAMESPACE_SCRIPT, koffi],
      // In its own session, so that a signal from our terminal does not end it.
      { cwd: "/", env: {}, detached: true, stdio: ["ignore", "ignore", "pipe", "ipc"] },
    );
    const stderr = this.#child.stderr as Readable & { unref(): void };
    stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(0, SHOWN_CHARS);
    });
    stderr.unref();
    this.#child.on("message", (message, handle) => this.#onMessage(message as Answer, handle));
    this.#child.on("error", (error) => this.#fail(unavailable(error.message), onEnd));
    this.#child.on("close", () => {
      const said = oneLine(this.#stderr, "; ");
      this.#fail(unavailable(`${hintFor(said) ?? "the helper for networks ended"} [${said}]`), onEnd);
    });
    this.#child.unref();
    this.#child.channel?.unref();
  }

  /** Whether it ended after it had worked: there is nothing wrong with this machine. */
  get wasLost(): boolean {
    return this.#hasEnded && this.#pid !== undefined;
  }

  open(): Promise<Namespace> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(ANSWER_MS, () => this.end());
      this.#child.channel?.ref();
      const settle = () => {
        cancel();
        if (this.#calls.length === 0) this.#child.channel?.unref();
      };
      this.#calls.push({
        resolve: (namespace) => {
          settle();
          resolve(namespace);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      });
      this.#child.send("open", () => undefined);
    });
  }

  end(): void {
    if (this.#child.connected) this.#child.disconnect();
    this.#child.kill("SIGKILL");
  }

  #onMessage(message: Answer, handle: unknown): void {
    if ("pid" in message) {
      this.#pid = message.pid;
      return;
    }
    const call = this.#calls.shift();
    if ("error" in message)
      return call?.reject(new ExecwireError("SANDBOX_FAILED", `the network could not be set up: ${message.error}`));
    if (!(handle instanceof Server)) return;
    const opened: number[] = [];
    try {
      for (const path of [`fd/${message.fd}`, "ns/user"]) opened.push(openSync(`/proc/${this.#pid}/${path}`, "r"));
      this.#child.send({ close: message.fd }, () => undefined);
      const [net = -1, user = -1] = opened;
      call?.resolve({ net, user, listener: handle });
    } catch (error) {
      for (const fd of opened) closeSync(fd);
      handle.close();
      call?.reject(
        new ExecwireError("SANDBOX_FAILED", `the network could not be entered: ${(error as Error).message}`),
      );
    }
  }

  #fail(error: ExecwireError, onEnd: () => void): void {
    this.#hasEnded = true;
    onEnd();
    for (const call of this.#calls.splice(0)) call.reject(error);
  }
}

/** What the helper sends: see `NAMESPACE_SCRIPT`. */
type Answer = { readonly pid: number } | { readonly fd: number } | { readonly error: string };
