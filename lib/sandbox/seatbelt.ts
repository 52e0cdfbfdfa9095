// The profile of a policy for the sandbox of macOS (sandbox-exec, SBPL). NOT RUN: there was no macOS to run it on, and no spawner
// uses it yet; a policy is refused there. Its specs compare texts.
//
// Of several matching rules the last one counts. So rules stand from the shallowest path to the deepest, as in `file-view.ts`.
import type { FileAccess, FileRule, SandboxPolicy } from "../../protocol/index.ts";
import { isBelow } from "./file-view.ts";

/** What the policy does not say. All paths are real: /tmp is a link to /private/tmp there. */
export interface SeatbeltHost {
  /** The directory that stands for `{ named: "tmp" }`: TMPDIR of the command, and of no other command. */
  readonly privateTmp: string;
  /** Where the proxy of a managed network listens, on the loopback of the host. */
  readonly proxyPort?: number;
}

const STRICTNESS: Readonly<Record<FileAccess, number>> = { none: 0, read: 1, write: 2 };

/** What a program needs to start and to find out where it is. */
const BASE = [
  "(version 1)",
  "(deny default)",
  "(allow process-exec)",
  "(allow process-fork)",
  "(allow process-info* (target same-sandbox))",
  "(allow signal (target same-sandbox))",
  "(allow sysctl-read)",
  "(allow user-preference-read)",
  '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
  "(allow ipc-posix-sem)",
  "(allow pseudo-tty)",
];

/** Devices without content of their own, and terminals. */
const DEVICES = [
  '(allow file-read* file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx"))',
  '(allow file-read* (literal "/dev/random") (literal "/dev/urandom"))',
  '(allow file-read* file-write* file-ioctl (regex #"^/dev/ttys[0-9]+$"))',
];

/** The named path `platform`: programs and libraries, and settings without secrets. */
const PLATFORM = [
  "/bin",
  "/sbin",
  "/usr",
  "/System",
  "/Library/Apple",
  "/Library/Developer/CommandLineTools",
  "/private/etc/hosts",
  "/private/etc/localtime",
  "/private/etc/passwd",
  "/private/etc/protocols",
  "/private/etc/resolv.conf",
  "/private/etc/services",
  "/private/etc/shells",
  "/private/etc/ssl",
  "/private/var/db/timezone",
];

/** The profile. Throws a RangeError for a path that a profile cannot name, and for a managed network without a port. */
export function seatbeltProfile(
  { files, network = "none", unixSockets = false }: SandboxPolicy,
  host: SeatbeltHost,
): string {
  const rules = rulesByDepth(files, host.privateTmp);
  return [
    ...BASE,
    ...rules.map(ruleText),
    ...rules.flatMap((rule) => movedWith(rule, rules)),
    ...DEVICES,
    ...networkRules(network, unixSockets, host.proxyPort),
  ]
    .join("\n")
    .concat("\n");
}

interface PathRule {
  readonly path: string;
  readonly access: FileAccess;
}

function rulesByDepth(files: readonly FileRule[], privateTmp: string): readonly PathRule[] {
  const strictest = new Map<string, PathRule>();
  for (const { path, access } of files) {
    for (const each of typeof path === "string" ? [path] : namedPaths(path.named, access, privateTmp)) {
      const other = strictest.get(each);
      if (!other || STRICTNESS[access] < STRICTNESS[other.access]) strictest.set(each, { path: each, access });
    }
  }
  const depth = (path: string) => (path === "/" ? 0 : path.split("/").length);
  return [...strictest.values()].sort((a, b) => depth(a.path) - depth(b.path));
}

function namedPaths(name: "root" | "platform" | "tmp", access: FileAccess, privateTmp: string): readonly string[] {
  if (name === "root") return ["/"];
  if (name === "tmp") return [privateTmp];
  return access === "none" ? [] : PLATFORM;
}

function ruleText({ path, access }: PathRule): string {
  const subpath = `(subpath ${quoted(path)})`;
  if (access === "write") return `(allow file-read* file-write* ${subpath})`;
  if (access === "none") return `(deny file-read* file-write* ${subpath})`;
  return `(allow file-read* ${subpath})\n(deny file-write* ${subpath})`;
}

/** A directory between a writable one and what is protected in it cannot be moved away, and the protection with it. */
function movedWith({ path, access }: PathRule, rules: readonly PathRule[]): readonly string[] {
  if (access === "write") return [];
  const around = rules.filter((rule) => rule.access === "write" && isBelow(path, rule.path));
  const deepest = around.at(-1)?.path;
  if (deepest === undefined) return [];
  const parts = path.slice(deepest === "/" ? 1 : deepest.length + 1).split("/");
  return parts.slice(0, -1).map((_, index) => {
    const between = `${deepest === "/" ? "" : deepest}/${parts.slice(0, index + 1).join("/")}`;
    return `(deny file-write-unlink (literal ${quoted(between)}))`;
  });
}

function networkRules(
  network: NonNullable<SandboxPolicy["network"]>,
  unixSockets: boolean,
  proxyPort: number | undefined,
): readonly string[] {
  const sockets = unixSockets
    ? ["(allow network-outbound (remote unix-socket))"]
    : ["(deny network-outbound (remote unix-socket))"];
  if (network === "none") return unixSockets ? ["(allow system-socket)", ...sockets] : [];
  if (network === "full")
    return [
      "(allow system-socket)",
      "(allow network-outbound)",
      "(allow network-inbound)",
      "(allow network-bind)",
      ...sockets,
      // Names are resolved by a service that is reached through a unix socket.
      '(allow network-outbound (literal "/private/var/run/mDNSResponder"))',
    ];
  if (proxyPort === undefined) throw new RangeError("a managed network needs the port of its proxy");
  return [
    "(allow system-socket)",
    `(allow network-outbound (remote ip "localhost:${proxyPort}"))`,
    ...(unixSockets ? sockets : []),
  ];
}

/** A string of the profile's language. */
function quoted(path: string): string {
  for (const char of path)
    if (char < " " || char === "\x7f") throw new RangeError(`a profile cannot name ${JSON.stringify(path)}`);
  return `"${path.replace(/[\\"]/g, "\\$&")}"`;
}
