// Processes that do not belong to the supervisor under test, but have the streams of its processes open.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { isAlive } from "./system-facts.ts";
import { settled } from "./system-wait.ts";
import { endDetached, findProcesses } from "./trees.ts";

/** An unrelated process, and how a supervised command passes its streams to it. */
export interface Unrelated {
  /** Starts it, before or after the command. */
  begin(): Promise<void>;
  /** argv of a command that prints `ready` once the other process has its streams. */
  readonly client: readonly string[];
  readonly tty: boolean;
  /** Pids that must survive: the process and those that it has started. */
  pids(): readonly number[];
  end(): Promise<void>;
}

/** Accepts descriptors over a unix socket and keeps them, as an ssh master does; a worker that it forks does the same. */
const MASTER = `
import os, socket, sys, time
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
print(os.getpid(), flush=True)
connection, _ = server.accept()
_, fds, _, _ = socket.recv_fds(connection, 16, 3)
worker = os.fork()
if worker:
    print(worker, flush=True)
    os.write(fds[1], b"ready\\n")
time.sleep(1000)
`;
/** Waits for the socket of a master, and passes all three standard streams to it. */
const CLIENT = `
import os, socket, sys, time
client = socket.socket(socket.AF_UNIX)
while client.connect_ex(sys.argv[1]): time.sleep(0.02)
socket.send_fds(client, [b"take"], [0, 1, 2])
time.sleep(1000)
`;

/** A process that receives the descriptors of the command. */
export function master(socket: string): Unrelated {
  let child: ChildProcess | undefined;
  const pids: number[] = [];
  const begin = async () => {
    child = spawn("python3", ["-c", MASTER, socket], { stdio: ["ignore", "pipe", "inherit"], detached: true });
    const lines = createInterface(child.stdout as NodeJS.ReadableStream);
    lines.on("line", (line) => pids.push(Number(line)));
    await once(lines, "line");
  };
  return {
    begin,
    client: ["/usr/bin/env", "python3", "-c", CLIENT, socket],
    tty: false,
    pids: () => pids,
    end: () => endDetached(...pids),
  };
}

/** A tmux server with a program in it; the command is its client. It prints the name of its session, `ready`. */
export function tmux(socket: string): Unrelated {
  const call = (...args: string[]) => execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...args]).toString();
  const begin = async () => void call("new-session", "-d", "-s", "ready", "sleep 1000");
  const attach = `until tmux -S "$0" has-session 2>/dev/null; do sleep 0.05; done; exec tmux -S "$0" attach`;
  return {
    begin,
    client: ["/usr/bin/env", "TERM=xterm", "/bin/sh", "-c", attach, socket],
    tty: true,
    pids: () => [
      ...findProcesses(`-S\0${socket}\0-f`),
      ...call("list-panes", "-F", "#{pane_pid}").split("\n").filter(Boolean).map(Number),
    ],
    end: async () => {
      const pids = findProcesses(`-S\0${socket}\0-f`);
      call("kill-server");
      await settled(
        () => pids.filter(isAlive).length,
        (left) => left === 0,
      );
    },
  };
}

/** A shell in a session of its own that opens the stdout of `pid` for reading, and a child that inherits it. */
export async function curiousShell(pid: number): Promise<Pick<Unrelated, "pids" | "end">> {
  const script = `exec 9>/proc/$0/fd/1; sleep 1000 & echo $!; wait`;
  const shell = spawn("/bin/sh", ["-c", script, `${pid}`], { stdio: ["ignore", "pipe", "inherit"], detached: true });
  const [line] = await once(createInterface(shell.stdout), "line");
  const pids = [shell.pid as number, Number(line)];
  return { pids: () => pids, end: () => endDetached(...pids) };
}
