// Numbers of the system calls that a filter names, per architecture. From <asm/unistd.h> of Linux.

/** An architecture, as seccomp sees it. */
export interface SyscallTable {
  /** AUDIT_ARCH_* of <linux/audit.h>. */
  readonly audit: number;
  /** Whether the kernel also takes calls of a second ABI, whose numbers have bit 30 set (x32). */
  readonly hasX32: boolean;
  readonly numbers: Readonly<Record<Syscall, number>>;
}

/** A system call that a filter names. */
export type Syscall = keyof typeof X64;

const X64 = {
  ioctl: 16,
  socket: 41,
  socketpair: 53,
  ptrace: 101,
  init_module: 175,
  delete_module: 176,
  kexec_load: 246,
  add_key: 248,
  request_key: 249,
  keyctl: 250,
  perf_event_open: 298,
  open_by_handle_at: 304,
  process_vm_readv: 310,
  process_vm_writev: 311,
  finit_module: 313,
  kexec_file_load: 320,
  bpf: 321,
  userfaultfd: 323,
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  pidfd_getfd: 438,
} as const;

const ARM64: Readonly<Record<Syscall, number>> = {
  ioctl: 29,
  kexec_load: 104,
  init_module: 105,
  delete_module: 106,
  ptrace: 117,
  socket: 198,
  socketpair: 199,
  add_key: 217,
  request_key: 218,
  keyctl: 219,
  perf_event_open: 241,
  open_by_handle_at: 265,
  process_vm_readv: 270,
  process_vm_writev: 271,
  finit_module: 273,
  bpf: 280,
  userfaultfd: 282,
  kexec_file_load: 294,
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  pidfd_getfd: 438,
};

/** The architectures a filter can be made for, by Node's names. */
export const SYSCALL_TABLES: Readonly<Record<string, SyscallTable>> = {
  x64: { audit: 0xc000003e, hasX32: true, numbers: X64 },
  arm64: { audit: 0xc00000b7, hasX32: false, numbers: ARM64 },
};
