// Jest environment that gives the specs the real `process`. Jest's own is a copy, on which signal listeners such as
// SIGCHLD never fire. What Jest or a spec leaves behind on the real one is taken back at teardown. A spec file that leaves child
// processes, sockets, servers or timers behind fails: the next file in the same worker would meet them, and the worker could not
// end by itself.
import { TestEnvironment } from "jest-environment-node";
import { Leftovers } from "./leftovers.mjs";

/** What Jest replaces on the sandbox's process: exit to report the caller, getBuiltinModule to serve its own registry. */
const REPLACED_BY_JEST = ["exit", "getBuiltinModule"];

export default class RealProcessEnvironment extends TestEnvironment {
  #descriptors = REPLACED_BY_JEST.map((name) => [name, Object.getOwnPropertyDescriptor(process, name)]);
  #listeners = signalListeners();
  #env = { ...process.env };
  #leftovers;
  /** The failed tests, whose results Jest drops when the file fails as a whole. */
  #failures = [];

  constructor(config, context) {
    // Jest's cleanup deletes (or wraps) the properties of every global set in a spec file: on the real process, fatal.
    const testEnvironmentOptions = { ...config.projectConfig.testEnvironmentOptions, globalsCleanup: "off" };
    super({ ...config, projectConfig: { ...config.projectConfig, testEnvironmentOptions } }, context);
    this.global.process = process;
    this.#leftovers = new Leftovers(context.testPath);
  }

  handleTestEvent({ name, test }) {
    if (name === "test_done")
      this.#failures.push(...test.errors.map(([error]) => `${test.name}: ${error?.message ?? error}`));
  }

  async teardown() {
    await super.teardown();
    for (const [name, descriptor] of this.#descriptors) {
      if (descriptor) Object.defineProperty(process, name, descriptor);
    }
    for (const [signal, listener] of signalListeners()) {
      if (!this.#listeners.some(([name, known]) => name === signal && known === listener)) {
        process.removeListener(signal, listener);
      }
    }
    for (const name of Object.keys(process.env)) if (!(name in this.#env)) delete process.env[name];
    Object.assign(process.env, this.#env);
    await this.#leftovers.check(this.#failures);
  }
}

/** Every [signal, listener] now on the process. */
function signalListeners() {
  const signals = process.eventNames().filter((name) => String(name).startsWith("SIG"));
  return signals.flatMap((signal) => process.rawListeners(signal).map((listener) => [signal, listener]));
}
