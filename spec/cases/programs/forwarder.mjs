// A TCP proxy as a program of its own, so that it can be stopped. Usage: PORT of 127.0.0.1. Prints the port that it listens on.
import { connect, createServer } from "node:net";

const target = Number(process.argv[2]);
const server = createServer((near) => {
  const far = connect(target, "127.0.0.1");
  for (const [from, to] of [
    [near, far],
    [far, near],
  ]) {
    from.pipe(to);
    from.on("error", () => to.destroy());
    from.on("close", () => to.destroy());
  }
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
