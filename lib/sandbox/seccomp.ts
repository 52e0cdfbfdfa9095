// The system-call filter of a sandbox: a program for the kernel's classic BPF machine (seccomp(2)), which bubblewrap installs.
// It closes what the namespaces leave open: calls that reach other processes or the kernel itself, and sockets.
import { SYSCALL_TABLES, type Syscall, type SyscallTable } from "./syscalls.ts";

/** Denies a call, always or by the low 32 bits of one argument: the kernel itself looks at no more of these. */
export type Denial =
  | { readonly call: Syscall }
  | { readonly call: Syscall; readonly argument: number; readonly isIn: readonly number[] }
  | { readonly call: Syscall; readonly argument: number; readonly isNotIn: readonly number[] };

// <linux/bpf_common.h>, <linux/seccomp.h>, <errno.h>
const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const FAIL = 0x00050000;
const EPERM = 1;
const ENOSYS = 38;
const X32_BIT = 0x40000000;

// struct seccomp_data
const CALL_NUMBER = 0;
const ARCHITECTURE = 4;
const ARGUMENTS = 16;

const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const AF_VSOCK = 40;

/** Calls that no sandboxed process needs and that reach beyond it. */
const ALWAYS: readonly Denial[] = [
  { call: "ptrace" },
  { call: "process_vm_readv" },
  { call: "process_vm_writev" },
  // Takes descriptors out of another process: of the init process of the sandbox, which reports the exit code through one.
  { call: "pidfd_getfd" },
  // Its operations are not system calls, so that no filter sees them.
  { call: "io_uring_setup" },
  { call: "io_uring_enter" },
  { call: "io_uring_register" },
  // Keys belong to the user, not to a namespace.
  { call: "add_key" },
  { call: "request_key" },
  { call: "keyctl" },
  { call: "bpf" },
  { call: "perf_event_open" },
  { call: "userfaultfd" },
  { call: "open_by_handle_at" },
  { call: "kexec_load" },
  { call: "kexec_file_load" },
  { call: "init_module" },
  { call: "finit_module" },
  { call: "delete_module" },
  // Types into the terminal, for the programs that read it later.
  { call: "ioctl", argument: 1, isIn: [TIOCSTI, TIOCLINUX] },
];

/** The filter for a policy, as an array of struct sock_filter. Undefined if there is none for this architecture. */
export function seccompFilter(
  { network, unixSockets }: { readonly network: "full" | "none"; readonly unixSockets: boolean },
  arch: string = process.arch,
): Buffer | undefined {
  const table = SYSCALL_TABLES[arch];
  if (!table) return undefined;
  return assemble([...ALWAYS, ...socketDenials(network, unixSockets)], table);
}

function socketDenials(network: "full" | "none", unixSockets: boolean): readonly Denial[] {
  const unix = unixSockets ? [AF_UNIX] : [];
  // Pairs are harmless: both ends belong to the process.
  const pairs: Denial = { call: "socketpair", argument: 0, isNotIn: [AF_UNIX] };
  if (network === "none")
    return [{ call: "socket", argument: 0, isNotIn: [AF_INET, AF_INET6, AF_NETLINK, ...unix] }, pairs];
  return [{ call: "socket", argument: 0, isIn: unixSockets ? [AF_VSOCK] : [AF_VSOCK, AF_UNIX] }];
}

/** Translates denials, first match first. Exported for its spec. */
export function assemble(denials: readonly Denial[], { audit, hasX32, numbers }: SyscallTable): Buffer {
  const program = new Program();
  program.load(ARCHITECTURE);
  // A call through another ABI has other numbers.
  program.skipIfEqual(audit, 1);
  program.return(KILL_PROCESS);
  program.load(CALL_NUMBER);
  if (hasX32) {
    program.skipUnlessAtLeast(X32_BIT, 1);
    program.return(FAIL | ENOSYS);
  }
  for (const denial of denials) {
    const body = new Program();
    if ("argument" in denial) {
      const values = "isIn" in denial ? denial.isIn : denial.isNotIn;
      body.load(ARGUMENTS + 8 * denial.argument);
      // Behind the comparisons stand, for `isIn`, a step that leaves and the denial; for `isNotIn` the denial alone.
      for (const [index, value] of values.entries()) body.skipIfEqual(value, values.length - index);
      if ("isIn" in denial) body.skip(1);
      body.return(FAIL | EPERM);
      body.load(CALL_NUMBER);
    } else {
      body.return(FAIL | EPERM);
    }
    program.skipUnlessEqual(numbers[denial.call], body.length);
    program.append(body);
  }
  program.return(ALLOW);
  return program.toBuffer();
}

/** Instructions of the BPF machine. A skip counts the instructions that follow it. */
class Program {
  readonly #code: (readonly [code: number, ifTrue: number, ifFalse: number, k: number])[] = [];

  get length(): number {
    return this.#code.length;
  }

  load(offset: number): void {
    this.#code.push([LOAD, 0, 0, offset]);
  }

  return(action: number): void {
    this.#code.push([RETURN, 0, 0, action]);
  }

  skip(count: number): void {
    this.#code.push([JUMP_IF_AT_LEAST, count, 0, 0]);
  }

  skipIfEqual(value: number, count: number): void {
    this.#code.push([JUMP_IF_EQUAL, count, 0, value]);
  }

  skipUnlessEqual(value: number, count: number): void {
    this.#code.push([JUMP_IF_EQUAL, 0, count, value]);
  }

  skipUnlessAtLeast(value: number, count: number): void {
    this.#code.push([JUMP_IF_AT_LEAST, 0, count, value]);
  }

  append(other: Program): void {
    this.#code.push(...other.#code);
  }

  /** In the byte order of the machine; both architectures are little-endian. */
  toBuffer(): Buffer {
    const buffer = Buffer.alloc(this.#code.length * 8);
    for (const [index, [code, ifTrue, ifFalse, k]] of this.#code.entries()) {
      buffer.writeUInt16LE(code, index * 8);
      buffer.writeUInt8(ifTrue, index * 8 + 2);
      buffer.writeUInt8(ifFalse, index * 8 + 3);
      buffer.writeUInt32LE(k >>> 0, index * 8 + 4);
    }
    return buffer;
  }
}
