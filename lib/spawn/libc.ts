// The C library through koffi: the calls that Node does not offer. Nothing here decides anything; each function says
// what it wraps.
import { closeSync, openSync, readdirSync } from "node:fs";
import { constants, endianness } from "node:os";
import koffi from "koffi";
import type { TerminalSize } from "../../protocol/index.ts";
import type { ExitStatus } from "./child.ts";
import { bind } from "./libc-calls.ts";
import { signalName } from "./signals.ts";

/** A call that failed, with the number and name of its reason. */
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

/** A spawn in the terms of posix_spawn: what to do in the child before the program runs. */
export interface SpawnRequest {
  readonly file: string;
  readonly argv: readonly string[];
  readonly env: readonly string[];
  readonly cwd: string;
  /** Opened as descriptor 0 of the child: /dev/null, or the terminal, which becomes the controlling one. */
  readonly stdin: string | number;
  /** Descriptor of this process that becomes the child's 1 and 2; with `stdin` a terminal both are copies of 0. */
  readonly stdout: number;
  readonly stderr: number;
  readonly inheritFds: readonly number[];
}

// <spawn.h>, <fcntl.h>, <sys/wait.h>, <sys/prctl.h>, <asm/ioctls.h> of Linux; equal on all its architectures that Node supports,
// but for the two ioctls on powerpc, which are not used there (tcsetattr and TIOCSWINSZ have other numbers only on it).
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
const PR_SET_CHILD_SUBREAPER = 36;
const RLIMIT_LOCKS = 10;
const RLIM_INFINITY = 2 ** 64 - 1;
const WORD = 2 ** 32;
const IS_LITTLE_ENDIAN = endianness() === "LE";
const P_ALL = 0;
const P_PID = 1;
const WNOHANG = 1;
const WEXITED = 4;
const WNOWAIT = 0x01000000;
const CLD_EXITED = 1;
const CLOCK_BOOTTIME = 7;
const RUSAGE_CHILDREN = -1;
/** Of a struct rusage, in longs. */
const RUSAGE_LONGS = 18;
const MINOR_FAULTS = 8;
const MAJOR_FAULTS = 9;
const SC_CLK_TCK = 2;
// Equal on all architectures since Linux 5.1, but for alpha and mips, where Node does not run.
const SYS_PIDFD_SEND_SIGNAL = 424;
const SYS_PIDFD_OPEN = 434;
const TCSANOW = 0;
const ECHO_FLAGS = 0o10 | 0o20 | 0o40 | 0o100; // ECHO ECHOE ECHOK ECHONL
const IUTF8 = 0o40000;

/** A descriptor that is asked about numbers and used for nothing else. */
let unused: number | undefined;

/** Limits of a resource; infinite where there is none. */
export interface ResourceLimits {
  readonly soft: number;
  readonly hard: number;
}

/** A process that stays the same one whatever becomes of its pid. */
export interface ProcessHandle {
  /** pidfd_send_signal(2). Throws an ErrnoError: ESRCH when the process is gone. */
  signal(signal: number): void;
  close(): void;
}

/** The bound calls. Throws where the C library lacks one; the caller then uses the portable providers. */
export class Libc {
  readonly #c = bind();
  readonly #attributes = this.#makeAttributes();
  readonly #info = Buffer.alloc(128);
  readonly #ends = new Int32Array(2);
  /** A struct rlimit, as words of 32 bits: numbers of 64 would each be an object. */
  readonly #limits = new Uint32Array(4);
  /** A struct timespec. */
  readonly #time = longs(2);
  readonly #usage = longs(RUSAGE_LONGS);
  readonly #ticksPerSecond = Number(this.#c.sysconf(SC_CLK_TCK));

  /** pipe2(2): read end and write end, closed on exec. */
  pipe(): readonly [number, number] {
    this.#check("pipe2", this.#c.pipe2(this.#ends, O_CLOEXEC));
    return [this.#ends[0] as number, this.#ends[1] as number];
  }

  /** posix_openpt(3) and friends: a new terminal's master, non-blocking, and the path of its other side. */
  openTerminal(): { readonly master: number; readonly path: string } {
    const master = this.#check("posix_openpt", this.#c.openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    this.#check("grantpt", this.#c.grantpt(master));
    this.#check("unlockpt", this.#c.unlockpt(master));
    const name = Buffer.alloc(64);
    this.#check("ptsname_r", -this.#c.ptsname(master, name, name.length));
    return { master, path: name.toString("latin1", 0, name.indexOf(0)) };
  }

  /** Sets the size of a terminal; the foreground group gets SIGWINCH. */
  setSize(fd: number, { rows, cols }: TerminalSize): void {
    const size = Buffer.from(Uint16Array.of(rows, cols, 0, 0).buffer);
    this.#check("ioctl(TIOCSWINSZ)", this.#c.ioctl(fd, TIOCSWINSZ, size));
  }

  /** Presets a terminal before its program runs: UTF-8 editing, and no echo or no line discipline on request. */
  presetTerminal(fd: number, { echo, raw }: { readonly echo: boolean; readonly raw: boolean }): void {
    const termios = this.termios(fd);
    const flags = new Uint32Array(termios.buffer, termios.byteOffset, 4); // c_iflag, c_oflag, c_cflag, c_lflag
    flags[0] = (flags[0] as number) | IUTF8;
    if (raw) this.#c.cfmakeraw(termios);
    if (!echo) flags[3] = (flags[3] as number) & ~ECHO_FLAGS;
    this.#check("tcsetattr", this.#c.tcsetattr(fd, TCSANOW, termios));
  }

  /** tcgetattr(3): the modes of a terminal, by either side. */
  termios(fd: number): Buffer {
    const termios = Buffer.alloc(128);
    this.#check("tcgetattr", this.#c.tcgetattr(fd, termios));
    return termios;
  }

  /** fcntl(F_SETFL): a read of an empty pipe fails with EAGAIN. */
  unblock(fd: number): void {
    this.#check("fcntl", this.#c.fcntl(fd, F_SETFL, O_NONBLOCK));
  }

  /** fcntl(F_SETPIPE_SZ): whether the kernel granted it. */
  growPipe(fd: number, bytes: number): boolean {
    return this.#c.fcntl(fd, F_SETPIPE_SZ, bytes) >= 0;
  }

  /** prctl(PR_SET_CHILD_SUBREAPER): orphaned descendants become children of this process instead of init's. */
  becomeSubreaper(): void {
    this.#check("prctl", this.#c.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
  }

  /** prlimit(2): how many file locks a process may hold, 0 for this one; undefined when it is gone, or somebody else's. */
  lockLimits(pid: number): ResourceLimits | undefined {
    if (this.#c.prlimit?.(pid, RLIMIT_LOCKS, null, this.#limits) !== 0) return undefined;
    return { soft: this.#limitAt(0), hard: this.#limitAt(2) };
  }

  /** prlimit(2): sets that, where it is allowed. */
  limitLocks(pid: number, { soft, hard }: ResourceLimits): void {
    this.#putLimit(0, soft);
    this.#putLimit(2, hard);
    this.#c.prlimit?.(pid, RLIMIT_LOCKS, this.#limits, null);
  }

  /**
   * fcntl(F_SETOWN): whether any process has this number as its pid, group or session. The kernel looks the number up for the
   * owner of a descriptor, and finds none (ESRCH) when it is free.
   */
  isPidInUse(pid: number): boolean {
    unused ??= openSync("/dev/null", "r");
    return this.#c.fcntl(unused, F_SETOWN, -pid) === 0 || koffi.errno() !== constants.errno.ESRCH;
  }

  /** pidfd_open(2): the process that has this pid now; undefined where there is none, or no such call (Linux 5.3). */
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

  /** The present moment in the unit of a process's start time in /proc: clock ticks since boot. */
  ticks(): number {
    this.#check("clock_gettime", this.#c.clockGettime(CLOCK_BOOTTIME, this.#time));
    const [seconds, nanoseconds] = [Number(this.#time[0]), Number(this.#time[1])];
    return Math.floor((seconds + nanoseconds / 1e9) * this.#ticksPerSecond);
  }

  /** The exit of a child of ours, if it ended. It stays a zombie, so its pid, group and session cannot be reused. */
  peekExit(pid: number): ExitStatus | undefined {
    const info = this.#info.fill(0);
    if (this.#c.waitid(P_PID, pid, info, WEXITED | WNOHANG | WNOWAIT) !== 0 || info.readInt32LE(SI_PID) !== pid)
      return undefined;
    const status = info.readInt32LE(SI_PID + 8);
    return info.readInt32LE(8) === CLD_EXITED
      ? { exitCode: status, signal: null }
      : { exitCode: null, signal: signalName(status) };
  }

  /** Some child of this process, whoever made it, that ended and was not waited for; it stays so. 0: nobody; undefined: not known. */
  anyZombie(): number | undefined {
    const info = this.#info.fill(0);
    return this.#c.waitid(P_ALL, 0, info, WEXITED | WNOHANG | WNOWAIT) === 0 ? info.readInt32LE(SI_PID) : undefined;
  }

  /** wait4(2): ends the zombie of a child that exited, and returns its page faults; 0 for one that lives. */
  reap(pid: number): number {
    return this.#c.wait4(pid, null, WNOHANG, this.#usage) === pid ? this.#faults() : 0;
  }

  /** getrusage(2): the page faults of all children that any part of this program has waited for. */
  reapedFaults(): number {
    this.#check("getrusage", this.#c.getrusage(RUSAGE_CHILDREN, this.#usage));
    return this.#faults();
  }

  /**
   * posix_spawn(3) on a worker thread, so that a hung file system blocks no event loop. The child leads a new session
   * with default signal dispositions and an empty mask, and holds nothing but what the request names.
   */
  spawn(request: SpawnRequest): Promise<number> {
    const actions = Buffer.alloc(128);
    this.#c.actionsInit(actions);
    this.#fillActions(actions, request);
    const pid = new Int32Array(1);
    return new Promise<number>((resolve, reject) => {
      const done = (error: unknown, errno: number) => {
        if (error || errno !== 0) reject(error ?? new ErrnoError("posix_spawn", errno));
        else resolve(pid[0] as number);
      };
      const { file, argv, env } = request;
      this.#c.spawn.async(pid, file, actions, this.#attributes, [...argv, null], [...env, null], done);
    }).finally(() => this.#c.actionsDestroy(actions));
  }

  #fillActions(actions: Buffer, { cwd, stdin, stdout, stderr, inheritFds }: SpawnRequest): void {
    this.#c.addChdir(actions, cwd);
    if (typeof stdin === "string") this.#c.addOpen(actions, 0, stdin, stdin === "/dev/null" ? 0 : O_RDWR, 0);
    else this.#c.addDup2(actions, stdin, 0);
    this.#c.addDup2(actions, stdout, 1);
    this.#c.addDup2(actions, stderr, 2);
    const kept = new Set(inheritFds);
    const end = Math.max(2, ...kept) + 1;
    for (let fd = 3; fd < end; fd += 1) {
      // A descriptor copied onto itself loses its close-on-exec flag (POSIX.1-2024, glibc 2.29).
      if (kept.has(fd)) this.#c.addDup2(actions, fd, fd);
      else this.#c.addClose(actions, fd);
    }
    if (this.#c.addCloseFrom) this.#c.addCloseFrom(actions, end);
    else this.#keepToOurselves(kept);
  }

  /** Without closefrom in the C library: whatever this program has open by now is closed on exec. */
  #keepToOurselves(except: ReadonlySet<number>): void {
    for (const fd of readdirSync("/proc/self/fd").map(Number)) {
      // The descriptor of the listing itself is gone already, hence no check of the result.
      if (fd > 2 && !except.has(fd)) this.#c.fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
  }

  #faults(): number {
    return Number(this.#usage[MINOR_FAULTS]) + Number(this.#usage[MAJOR_FAULTS]);
  }

  #limitAt(index: number): number {
    const [first = 0, second = 0] = [this.#limits[index], this.#limits[index + 1]];
    const limit = IS_LITTLE_ENDIAN ? first + second * WORD : second + first * WORD;
    return limit >= RLIM_INFINITY ? Number.POSITIVE_INFINITY : limit;
  }

  #putLimit(index: number, limit: number): void {
    const isInfinite = limit === Number.POSITIVE_INFINITY;
    const [low, high] = isInfinite ? [WORD - 1, WORD - 1] : [limit % WORD, Math.floor(limit / WORD)];
    this.#limits[index] = IS_LITTLE_ENDIAN ? low : high;
    this.#limits[index + 1] = IS_LITTLE_ENDIAN ? high : low;
  }

  #makeAttributes(): Buffer {
    const attributes = Buffer.alloc(512);
    this.#c.attrInit(attributes);
    // Every signal back to its default: Node ignores SIGPIPE, and a child that inherits this never ends in `yes | head -1`.
    this.#c.attrSigDefault(attributes, Buffer.alloc(128, 0xff));
    this.#c.attrSigMask(attributes, Buffer.alloc(128));
    this.#c.attrFlags(attributes, SETSIGDEF | SETSIGMASK | SETSID);
    return attributes;
  }

  #check(call: string, result: number): number {
    if (result < 0) throw new ErrnoError(call, koffi.errno());
    return result;
  }
}

/** Offset of si_pid in siginfo_t: the union is aligned to a pointer. */
const SI_PID = koffi.sizeof("void *") === 8 ? 16 : 12;

function longs(count: number): BigInt64Array | Int32Array {
  return koffi.sizeof("long") === 8 ? new BigInt64Array(count) : new Int32Array(count);
}
