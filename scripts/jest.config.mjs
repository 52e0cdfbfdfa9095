// Jest for the specs: TypeScript as native ESM through swc, no injected globals, an environment with the real `process`.
import { join } from "node:path";

export default {
  rootDir: join(import.meta.dirname, ".."),
  roots: ["<rootDir>/spec"],
  testMatch: ["**/*.spec.ts"],
  testEnvironment: "<rootDir>/spec/support/environment.mjs",
  globalSetup: "<rootDir>/scripts/jest.global-setup.mjs",
  testTimeout: 20_000,
  // The gate must end even when a spec has left a connection open; whoever hunts such a leak runs with --forceExit=false.
  forceExit: true,
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
