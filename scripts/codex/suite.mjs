// The checks for whoever runs them in another way, as the specs do on our server; the types are in suite.d.mts.
export { checks } from "./checks/index.mjs";
export { runCheck } from "./run-check.mjs";
export { startServer } from "./servers.mjs";
