// Jest for the specs: TypeScript as native ESM through swc, no injected globals, an environment with the real `process`.
import { join } from "node:path";

export default {
  rootDir: join(import.meta.dirname, ".."),
  roots: ["<rootDir>/spec"],
  testMatch: ["**/*.spec.ts"],
  testEnvironment: "<rootDir>/spec/support/environment.mjs",
  globalSetup: "<rootDir>/scripts/jest.global-setup.mjs",
  testSequencer: "<rootDir>/scripts/jest.sequencer.mjs",
  // One worker per core. Jest would reserve a core for itself, which on two cores leaves no workers. That core would idle, since
  // the specs mostly wait for the programs they run.
  maxWorkers: "100%",
  testTimeout: 20_000,
  injectGlobals: false,
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      {
        jsc: { parser: { syntax: "typescript" }, target: "es2022" },
        module: { type: "es6" },
        sourceMaps: "inline",
      },
    ],
  },
  // The specs see the real `process`, and Node's streams use its nextTick and hrtime: never fake those.
  fakeTimers: { doNotFake: ["nextTick", "hrtime"] },
  reporters: ["default", "<rootDir>/scripts/tally-reporter.mjs"],
};
