// The program of the helper that makes network namespaces. A thread makes a namespace and opens sockets in it only with rights
// that an unprivileged program gets in a user namespace of its own, which a program with threads, such as ours, cannot enter.

/** Where each listener is, in its own namespace. */
export const PROXY_PORT = 3128;

/**
 * For `node -e`, with the path of koffi as its argument and an IPC channel. For each message `"open"` it makes a namespace and
 * answers `{fd}`, its own descriptor of the namespace, together with a listener; or `{error}`. A message `{close}` closes that
 * descriptor. It exits with the channel.
 */
export const NAMESPACE_SCRIPT = `
const { closeSync, openSync } = require("node:fs");
const { createServer } = require("node:net");
const koffi = require(process.argv[1]);
const libc = koffi.load(null);
const unshare = libc.func("int unshare(int)");
const socket = libc.func("int socket(int, int, int)");
const ioctl = libc.func("int ioctl(int, unsigned long, void *)");
const CLONE_NEWNET = 0x40000000, AF_INET = 2, SOCK_DGRAM_CLOEXEC = 0o2000002, SIOCSIFFLAGS = 0x8914, IFF_UP = 1;
const check = (name, result) => {
  if (result < 0) throw new Error(name + " failed with errno " + koffi.errno());
  return result;
};
// struct ifreq: the name in 16 bytes, then the flags.
const loopback = Buffer.alloc(40);
loopback.write("lo");
loopback.writeUInt16LE(IFF_UP, 16);
const open = () => {
  check("unshare", unshare(CLONE_NEWNET));
  const any = check("socket", socket(AF_INET, SOCK_DGRAM_CLOEXEC, 0));
  check("ioctl", ioctl(any, SIOCSIFFLAGS, loopback));
  closeSync(any);
  const fd = openSync("/proc/thread-self/ns/net", "r");
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(${PROXY_PORT}, "127.0.0.1", () => resolve(process.send({ fd }, server, () => server.close())));
  });
};
// One after the other: the next namespace is made when the listener of this one listens, or that would be in the wrong one.
let last = Promise.resolve();
process.on("message", (message) => {
  if (message !== "open") return closeSync(message.close);
  last = last.then(open).catch((error) => process.send({ error: error.message }));
});
process.on("disconnect", () => process.exit());
process.send({ pid: process.pid });
`;
