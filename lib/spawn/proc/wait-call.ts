// What a sleeping thread waits for, from its current system call (Linux). /proc/PID/syscall shows number and arguments, but needs
// permission to trace. Without it, the kernel function that the thread sleeps in (wchan) is readable; it names no descriptor.
import { closeSync, openSync, readSync } from "node:fs";
import { readText } from "./proc.ts";

/** The kind of file that a reader waits on, as far as wchan shows it. */
export type InputKind = "pipe" | "tty";

/** What a thread waits for. */
export type Wait =
  /** For bytes from this descriptor. */
  | { readonly for: "input"; readonly fd: number }
  /** For bytes from an unknown file of this kind. */
  | { readonly for: "input"; readonly kind: InputKind }
  /** For any of these descriptors to become readable; `alone` if for no other event and without timeout. */
  | { readonly for: "any"; readonly fds: readonly number[]; readonly alone: boolean }
  | { readonly for: "children" | "something" };

const SOMETHING: Wait = { for: "something" };
const CHILDREN: Wait = { for: "children" };

type Call = "read" | "poll" | "ppoll" | "select" | "epoll" | "epoll2" | "children" | "restart";

/** From <asm/unistd.h>. timeout(1), and shells that wait for any child, sleep in sigsuspend instead of wait4. */
const CALLS: Readonly<Record<string, ReadonlyMap<number, Call>>> = {
  x64: numbers({
    read: [0, 19, 275, 327], // read readv splice preadv2
    poll: [7],
    ppoll: [271],
    select: [23, 270], // select pselect6
    epoll: [232, 281], // epoll_wait epoll_pwait
    epoll2: [441],
    children: [61, 247, 130], // wait4 waitid rt_sigsuspend
    restart: [219],
  }),
  arm64: numbers({
    read: [63, 65, 76, 286],
    ppoll: [73],
    select: [72],
    epoll: [22],
    epoll2: [441],
    children: [260, 95, 133],
    restart: [128],
  }),
};

/** A stack below this address belongs to a 32-bit program, whose calls have other numbers. */
const FOUR_GIB = 2 ** 32;
/** Largest list of descriptors that is read, in bytes: 8,192 entries of poll, 524,288 of select. */
const MAX_BYTES = 64 * 1024;
const POLLIN = 0x1 | 0x40; // POLLIN POLLRDNORM
const EPOLLIN = POLLIN;

/** What a sleeping thread of process `pid` waits for. */
export function waitOf(pid: number, thread: number): Wait {
  const task = `/proc/${pid}/task/${thread}`;
  const sleepsIn = () => readText(`${task}/wchan`) ?? "";
  return waitInCall(pid, readText(`${task}/syscall`), sleepsIn) ?? waitInFunction(sleepsIn());
}

/** From the line of /proc/PID/syscall; undefined if that is inconclusive. */
export function waitInCall(
  pid: number,
  line: string | undefined,
  sleepsIn: () => string,
  calls = CALLS[process.arch] ?? new Map<number, Call>(),
): Wait | undefined {
  // Number, six arguments, stack and instruction pointer; or `running`; or -1 outside of a call.
  const [number, a = 0, b = 0, c = 0, d = 0, e = 0, , stack = 0] = (line ?? "").split(" ").map(Number);
  if (number === undefined || !(number >= 0) || stack < FOUR_GIB) return undefined;
  const call = calls.get(number);
  switch (call) {
    case "read":
      return { for: "input", fd: a };
    case "select":
      return waitInSelect(pid, a, [b, c, d], e !== 0);
    case "poll":
      return waitInPoll(pid, a, b, isFinite32(c));
    case "ppoll":
      return waitInPoll(pid, a, b, c !== 0);
    case "epoll":
      return waitInEpoll(pid, a, isFinite32(d));
    case "epoll2":
      return waitInEpoll(pid, a, d !== 0);
    case "children":
      return CHILDREN;
    case "restart":
      // restart_syscall, after SIGCONT: among the calls restarted so, wchan identifies only poll.
      return sleepsIn().includes("poll") ? waitInPoll(pid, a, b, isFinite32(c)) : SOMETHING;
    default:
      return SOMETHING;
  }
}

/** From the name of the kernel function, which differs by version: pipe_wait up to 5.4, anon_pipe_read since 6.15. */
export function waitInFunction(name: string): Wait {
  if (/^(anon_)?pipe_(read|wait)$/.test(name)) return { for: "input", kind: "pipe" };
  if (/^(n_tty_read|wait_woken)$/.test(name)) return { for: "input", kind: "tty" };
  return /^(do_wait|sigsuspend)/.test(name) ? CHILDREN : SOMETHING;
}

function waitInSelect(pid: number, count: number, sets: readonly number[], timed: boolean): Wait {
  const [readable, ...others] = sets.map((address) => (address === 0 ? [] : membersAt(pid, address, count)));
  if (!readable || others.includes(undefined)) return SOMETHING;
  return { for: "any", fds: readable, alone: !timed && others.every((set) => set?.length === 0) };
}

/** The members of an fd_set, read as little-endian words. Big-endian s390x has no entry in CALLS. */
function membersAt(pid: number, address: number, count: number): number[] | undefined {
  const bits = readMemory(pid, address, Math.ceil(count / 64) * 8);
  return bits && Array.from({ length: count }, (_, fd) => fd).filter((fd) => (bits[fd >> 3] ?? 0) & (1 << (fd & 7)));
}

/** An array of struct pollfd: int fd, short events, short revents. */
function waitInPoll(pid: number, address: number, count: number, timed: boolean): Wait {
  const bytes = readMemory(pid, address, count * 8);
  if (!bytes) return SOMETHING;
  const entries = Array.from({ length: count }, (_, i) => ({
    fd: bytes.readInt32LE(i * 8),
    events: bytes.readUInt16LE(i * 8 + 4),
  })).filter(({ fd }) => fd >= 0);
  const fds = entries.flatMap(({ fd, events }) => (events & POLLIN ? fd : []));
  return { for: "any", fds, alone: !timed && fds.length === entries.length };
}

/** Lines such as `tfd:        0 events:       19 data: ...`. */
function waitInEpoll(pid: number, fd: number, timed: boolean): Wait {
  const lines = [...(readText(`/proc/${pid}/fdinfo/${fd}`) ?? "").matchAll(/^tfd:\s*(\d+) events:\s*([0-9a-f]+)/gm)];
  const fds = lines.flatMap(([, target, events]) =>
    Number.parseInt(events as string, 16) & EPOLLIN ? Number(target) : [],
  );
  return { for: "any", fds, alone: !timed && fds.length === lines.length };
}

/** Reads memory that a call's arguments point to. Needs the same permission as /proc/PID/syscall. */
function readMemory(pid: number, address: number, length: number): Buffer | undefined {
  if (length > MAX_BYTES) return undefined;
  let fd: number | undefined;
  try {
    fd = openSync(`/proc/${pid}/mem`, "r");
    const bytes = Buffer.alloc(length);
    return readSync(fd, bytes, 0, length, address) === length ? bytes : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Whether a timeout in milliseconds is finite: an int, negative if infinite; the upper half of its register is undefined. */
function isFinite32(timeout: number): boolean {
  return (timeout | 0) >= 0;
}

function numbers(calls: Partial<Record<Call, readonly number[]>>): ReadonlyMap<number, Call> {
  return new Map(Object.entries(calls).flatMap(([call, all]) => all.map((number) => [number, call as Call] as const)));
}
