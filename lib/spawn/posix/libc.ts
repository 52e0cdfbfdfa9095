// System calls that Node does not offer, made through koffi. No policy here: each method names the call it wraps.
import { closeSync, openSync, readdirSync, writeSync } from "node:fs";
import { constants } from "node:os";
import koffi from "koffi";
import { isIllFormed, type TerminalSize } from "../../../protocol/index.ts";
import { encodeBytes } from "../byte-strings.ts";
import type { ExitStatus, PlacedFd, ProcessHandle } from "../child.ts";
import { hostSignalName } from "../signals.ts";
import { signalsForChildren } from "../start-state.ts";
import { bind } from "./libc-calls.ts";
import { type ResourceLimits, Rlimit } from "./rlimit.ts";

/** A failed call, with the number and name of its errno. */
export class ErrnoError extends Error {
  readonly errno: number;
  readonly code: string;

  constructor(call: string, errno: number) {
    const code = Object.entries(constants.errno).find(([, number]) => number === errno)?.[0] ?? `errno ${errno}`;
    super(`${call}: ${code}`);
    this.errno = errno;
    this.code = code;
  }
}

/** The arguments of posix_spawn(3), with the actions in the child before the program runs. */
export interface SpawnRequest {
  readonly file: string;
  readonly argv: readonly string[];
  readonly env: readonly string[];
  /** Undefined: the child is not moved. */
  readonly cwd: string | undefined;
  /** Descriptor 0 of the child: one of ours to copy, or a path to open; a terminal opened so becomes the controlling one. */
  readonly stdin: string | number;
  /** Copied to the child's descriptor 1: one of ours, or 0, the terminal that `stdin` has opened in the child. */
  readonly stdout: number;
  /** The same for 2. */
  readonly stderr: number;
  readonly inheritFds: readonly number[];
  readonly placedFds?: readonly PlacedFd[] | undefined;
}

// <spawn.h>, <fcntl.h>, <sys/wait.h>, <sys/prctl.h>, <asm/ioctls.h> of Linux. The same on all architectures that Node supports,
// except TIOCSWINSZ and the echo flags on powerpc, whose values there are not handled.
const SETSIGDEF = 0x04;
const SETSIGMASK = 0x08;
const SETSID = 0x80;
const O_RDWR = 2;
const O_NOCTTY = 0o400;
const O_NONBLOCK = 0o4000;
const O_CLOEXEC = 0o2000000;
const F_SETPIPE_SZ = 1031;
const F_SETFD = 2;
const F_SETFL = 4;
const F_SETOWN = 8;
const FD_CLOEXEC = 1;
const TIOCSWINSZ = 0x5414;
const MFD_CLOEXEC = 1;
const PR_SET_CHILD_SUBREAPER = 36;
const RLIMIT_NOFILE = 7;
const RLIMIT_LOCKS = 10;
const P_ALL = 0;
const P_PID = 1;
const WNOHANG = 1;
const WEXITED = 4;
const WNOWAIT = 0x01000000;
const CLD_EXITED = 1;
const CLOCK_BOOTTIME = 7;
const RUSAGE_CHILDREN = -1;
/** Size of a struct rusage, in longs. */
const RUSAGE_LONGS = 18;
const MINOR_FAULTS = 8;
const MAJOR_FAULTS = 9;
const SC_CLK_TCK = 2;
// The same on all architectures since Linux 5.1, except alpha and mips, where Node does not run.
const SYS_PIDFD_SEND_SIGNAL = 424;
const SYS_PIDFD_OPEN = 434;
const TCSANOW = 0;
const ECHO_FLAGS = 0o10 | 0o20 | 0o40 | 0o100; // ECHO ECHOE ECHOK ECHONL
const IUTF8 = 0o40000;

/** The descriptor that `isPidInUse` probes pids with; never read. */
let probeFd: number | undefined;

/** The bound calls. The constructor throws if the C library lacks one; the caller then uses the portable spawner. */
export class Libc {
  readonly #c = bind();
  readonly #attributes = this.#makeAttributes();
  readonly #info = Buffer.alloc(128);
  readonly #ends = new Int32Array(2);
  readonly #rlimit = new Rlimit();
  /** A struct timespec. */
  readonly #time = longs(2);
  readonly #usage = longs(RUSAGE_LONGS);
  readonly #ticksPerSecond = Number(this.#c.sysconf(SC_CLK_TCK));

  /** pipe2(2): read end and write end, both close-on-exec. */
  pipe(): readonly [number, number] {
    this.#check("pipe2", this.#c.pipe2(this.#ends, O_CLOEXEC));
    return [this.#ends[0] as number, this.#ends[1] as number];
  }

  /** memfd_create(2): a file in memory with this content, close-on-exec, at its beginning. */
  memoryFile(content: Uint8Array): number {
    const fd = this.#check("memfd_create", Number(this.#c.memfdCreate("execwire", MFD_CLOEXEC)));
    writeSync(fd, content, 0, content.length, 0);
    return fd;
  }

  /** posix_openpt(3), grantpt(3), unlockpt(3), ptsname_r(3): a new terminal's non-blocking master, and the path of its slave. */
  openTerminal(): { readonly master: number; readonly path: string } {
    const master = this.#check("posix_openpt", this.#c.openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    this.#check("grantpt", this.#c.grantpt(master));
    this.#check("unlockpt", this.#c.unlockpt(master));
    const name = Buffer.alloc(64);
    this.#check("ptsname_r", -this.#c.ptsname(master, name, name.length));
    return { master, path: name.toString("latin1", 0, name.indexOf(0)) };
  }

  /** ioctl(TIOCSWINSZ): sets the size of a terminal; its foreground group gets SIGWINCH. */
  setSize(fd: number, { rows, cols }: TerminalSize): void {
    const size = Buffer.from(Uint16Array.of(rows, cols, 0, 0).buffer);
    this.#check("ioctl(TIOCSWINSZ)", this.#c.ioctl(fd, TIOCSWINSZ, size));
  }

  /** tcsetattr(3), before the program runs: UTF-8 editing; optionally no echo, or raw mode. */
  presetTerminal(fd: number, { echo, raw }: { readonly echo: boolean; readonly raw: boolean }): void {
    const termios = this.termios(fd);
    const flags = new Uint32Array(termios.buffer, termios.byteOffset, 4); // c_iflag, c_oflag, c_cflag, c_lflag
    flags[0] = (flags[0] as number) | IUTF8;
    if (raw) this.#c.cfmakeraw(termios);
    if (!echo) flags[3] = (flags[3] as number) & ~ECHO_FLAGS;
    this.#check("tcsetattr", this.#c.tcsetattr(fd, TCSANOW, termios));
  }

  /** tcgetattr(3): the modes of a terminal, from either side. */
  termios(fd: number): Buffer {
    const termios = Buffer.alloc(128);
    this.#check("tcgetattr", this.#c.tcgetattr(fd, termios));
    return termios;
  }

  /** fcntl(F_SETFL, O_NONBLOCK): from now on a read of an empty pipe fails with EAGAIN. */
  unblock(fd: number): void {
    this.#check("fcntl", this.#c.fcntl(fd, F_SETFL, O_NONBLOCK));
  }

  /** fcntl(F_SETPIPE_SZ): returns whether the kernel granted it. */
  growPipe(fd: number, bytes: number): boolean {
    return this.#c.fcntl(fd, F_SETPIPE_SZ, bytes) >= 0;
  }

  /** prctl(PR_SET_CHILD_SUBREAPER): orphaned descendants become children of this process instead of init's. */
  becomeSubreaper(): void {
    this.#check("prctl", this.#c.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
  }

  /** prlimit(2): the limit of file locks of a process; pid 0 is this one. Undefined if it is gone or belongs to another user. */
  lockLimits(pid: number): ResourceLimits | undefined {
    return this.#limits(pid, RLIMIT_LOCKS);
  }

  /** prlimit(2): sets the limit of file locks; ignored if not permitted. */
  limitLocks(pid: number, limits: ResourceLimits): void {
    this.#setLimits(pid, RLIMIT_LOCKS, limits);
  }

  /** The same for the limit of open files. */
  fileLimits(pid: number): ResourceLimits | undefined {
    return this.#limits(pid, RLIMIT_NOFILE);
  }

  /** prlimit(2): sets the limit of open files; ignored if not permitted. */
  limitFiles(pid: number, limits: ResourceLimits): void {
    this.#setLimits(pid, RLIMIT_NOFILE, limits);
  }

  /**
   * fcntl(F_SETOWN): whether any process has this number as its pid, group or session. The kernel looks up the number to
   * set the owner of a descriptor, and fails with ESRCH if it is free.
   */
  isPidInUse(pid: number): boolean {
    probeFd ??= openSync("/dev/null", "r");
    return this.#c.fcntl(probeFd, F_SETOWN, -pid) === 0 || koffi.errno() !== constants.errno.ESRCH;
  }

  /** pidfd_open(2): the process that has this pid now; undefined if there is none, or before Linux 5.3. */
  openProcess(pid: number): ProcessHandle | undefined {
    const fd = Number(this.#c.syscall(SYS_PIDFD_OPEN, pid, 0, 0, 0));
    if (fd < 0) return undefined;
    return {
      signal: (signal) => {
        this.#check("pidfd_send_signal", Number(this.#c.syscall(SYS_PIDFD_SEND_SIGNAL, fd, signal, 0, 0)));
      },
      close: () => closeSync(fd),
    };
  }

  /** clock_gettime(CLOCK_BOOTTIME): now, in clock ticks since boot, the unit of start times in /proc. */
  ticks(): number {
    this.#check("clock_gettime", this.#c.clockGettime(CLOCK_BOOTTIME, this.#time));
    const [seconds, nanoseconds] = [Number(this.#time[0]), Number(this.#time[1])];
    return Math.floor((seconds + nanoseconds / 1e9) * this.#ticksPerSecond);
  }

  /** waitid(2), WNOWAIT: the exit of a child, if it exited. It stays a zombie, so its pid, group and session cannot be reused. */
  peekExit(pid: number): ExitStatus | undefined {
    const info = this.#info.fill(0);
    if (this.#c.waitid(P_PID, pid, info, WEXITED | WNOHANG | WNOWAIT) !== 0 || info.readInt32LE(SI_PID) !== pid)
      return undefined;
    const status = info.readInt32LE(SI_PID + 8);
    return info.readInt32LE(8) === CLD_EXITED
      ? { exitCode: status, signal: null }
      : { exitCode: null, signal: hostSignalName(status) };
  }

  /** waitid(2), WNOWAIT: any child of this program that is a zombie, and stays one. 0: none; undefined: the call failed. */
  anyZombie(): number | undefined {
    const info = this.#info.fill(0);
    return this.#c.waitid(P_ALL, 0, info, WEXITED | WNOHANG | WNOWAIT) === 0 ? info.readInt32LE(SI_PID) : undefined;
  }

  /** wait4(2): reaps a child that exited and returns its page faults; 0 if it still runs. */
  reap(pid: number): number {
    return this.#c.wait4(pid, null, WNOHANG, this.#usage) === pid ? this.#faults() : 0;
  }

  /** getrusage(2): the page faults of all children reaped by any part of this program. */
  reapedFaults(): number {
    this.#check("getrusage", this.#c.getrusage(RUSAGE_CHILDREN, this.#usage));
    return this.#faults();
  }

  /**
   * posix_spawn(3) on a worker thread, so that a hung file system does not block the event loop. The child leads a new
   * session, inherits only the descriptors of the request, and ignores and blocks no signals but `signalsForChildren`.
   */
  spawn(request: SpawnRequest): Promise<number> {
    const actions = Buffer.alloc(128);
    this.#c.actionsInit(actions);
    this.#fillActions(actions, request);
    const pid = new Int32Array(1);
    const { file, argv, env } = request;
    const texts = { file: cString(file), argv: [...argv.map(cString), null], env: [...env.map(cString), null] };
    return new Promise<number>((resolve, reject) => {
      const done = (error: unknown, errno: number) => {
        if (error || errno !== 0) reject(error ?? new ErrnoError("posix_spawn", errno));
        else resolve(pid[0] as number);
        // Until now the strings must stay in memory.
        texts.argv.length = 0;
      };
      this.#c.spawn.async(pid, texts.file, actions, this.#attributes, texts.argv, texts.env, done);
    }).finally(() => this.#c.actionsDestroy(actions));
  }

  #fillActions(actions: Buffer, { cwd, stdin, stdout, stderr, inheritFds, placedFds = [] }: SpawnRequest): void {
    if (cwd !== undefined) this.#c.addChdir(actions, cString(cwd));
    if (typeof stdin === "string") this.#c.addOpen(actions, 0, stdin, stdin === "/dev/null" ? 0 : O_RDWR, 0);
    else this.#c.addDup2(actions, stdin, 0);
    this.#c.addDup2(actions, stdout, 1);
    this.#c.addDup2(actions, stderr, 2);
    for (const { from, to } of placedFds) this.#c.addDup2(actions, from, to);
    const kept = new Set(inheritFds);
    const placed = new Set(placedFds.map(({ to }) => to));
    const end = Math.max(2, ...kept, ...placed) + 1;
    for (let fd = 3; fd < end; fd += 1) {
      if (placed.has(fd)) continue;
      // dup2 of a descriptor onto itself clears close-on-exec in a file action (POSIX.1-2024, glibc 2.29).
      if (kept.has(fd)) this.#c.addDup2(actions, fd, fd);
      else this.#c.addClose(actions, fd);
    }
    if (this.#c.addCloseFrom) this.#c.addCloseFrom(actions, end);
    else this.#setCloseOnExec(kept);
  }

  /** For a C library without closefrom: sets close-on-exec on every descriptor that this program has open now. */
  #setCloseOnExec(except: ReadonlySet<number>): void {
    for (const fd of readdirSync("/proc/self/fd").map(Number)) {
      // The result is not checked: the descriptor of the listing itself is closed by now.
      if (fd > 2 && !except.has(fd)) this.#c.fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
  }

  #limits(pid: number, resource: number): ResourceLimits | undefined {
    return this.#c.prlimit?.(pid, resource, null, this.#rlimit.words) === 0 ? this.#rlimit.get() : undefined;
  }

  #setLimits(pid: number, resource: number, limits: ResourceLimits): void {
    this.#rlimit.set(limits);
    this.#c.prlimit?.(pid, resource, this.#rlimit.words, null);
  }

  #faults(): number {
    return Number(this.#usage[MINOR_FAULTS]) + Number(this.#usage[MAJOR_FAULTS]);
  }

  #makeAttributes(): Buffer {
    const attributes = Buffer.alloc(512);
    this.#c.attrInit(attributes);
    const { ignored, blocked } = signalsForChildren();
    // Reset all other signals to their default: Node ignores SIGPIPE, and `yes | head -1` in a child that inherits this never ends.
    const reset = signalSet(ignored).map((word) => ~word);
    this.#c.attrSigDefault(attributes, reset);
    this.#c.attrSigMask(attributes, signalSet(blocked));
    this.#c.attrFlags(attributes, SETSIGDEF | SETSIGMASK | SETSID);
    return attributes;
  }

  #check(call: string, result: number): number {
    if (result < 0) throw new ErrnoError(call, koffi.errno());
    return result;
  }
}

/** Offset of si_pid in siginfo_t, whose union is pointer-aligned. */
const SI_PID = koffi.sizeof("void *") === 8 ? 16 : 12;

/** A string of C: koffi encodes text as UTF-8, so one with other bytes is encoded here. */
function cString(text: string): string | Buffer {
  return isIllFormed(text) ? Buffer.concat([encodeBytes(text), Buffer.of(0)]) : text;
}

/** A sigset_t. */
function signalSet(signals: readonly number[]): BigUint64Array {
  const set = new BigUint64Array(16);
  for (const signal of signals) set[0] = (set[0] as bigint) | (1n << BigInt(signal - 1));
  return set;
}

function longs(count: number): BigInt64Array | Int32Array {
  return koffi.sizeof("long") === 8 ? new BigInt64Array(count) : new Int32Array(count);
}
