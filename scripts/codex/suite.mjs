// Exports the checks for other runners, such as the specs; the types are in suite.d.mts.
export { checks } from "./checks/index.mjs";
export { runCheck } from "./run-check.mjs";
export { startServer } from "./servers.mjs";
