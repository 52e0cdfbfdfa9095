// Starts a process in a worker thread, with each spawner, and reports the refusals.
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { createSupervisor } from "../../../dist/lib/index.js";

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url));
  worker.on("message", (refusals) => console.log(JSON.stringify(refusals)));
} else {
  const refusals = [];
  for (const spawner of ["auto", "posix", "portable"]) {
    const supervisor = createSupervisor({ spawner });
    await supervisor.start({ argv: ["/bin/true"] }).catch((error) => refusals.push(error.code));
    await supervisor.close();
  }
  parentPort.postMessage(refusals);
}
