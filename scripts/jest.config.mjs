// Jest for the specs: TypeScript as native ESM through swc, no injected globals, an environment with the real `process`.
import { join } from "node:path";

export default {
  rootDir: join(import.meta.dirname, ".."),
  roots: ["<rootDir>/spec"],
  testMatch: ["**/*.spec.ts"],
  testEnvironment: "<rootDir>/spec/support/environment.mjs",
  globalSetup: "<rootDir>/scripts/jest.global-setup.mjs",
  testSequencer: "<rootDir>/scripts/jest.sequencer.mjs",
  // One for each core. Jest would leave a core to itself, which on two cores means no workers; the specs mostly wait for the
  // programs that they run, so a core to itself would idle.
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
  // The specs see the real `process`, whose nextTick and hrtime Node's own streams use too: never fake those.
  fakeTimers: { doNotFake: ["nextTick", "hrtime"] },
  reporters: ["default", "<rootDir>/scripts/tally-reporter.mjs"],
};
