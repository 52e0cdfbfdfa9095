#!/usr/bin/env node
// The entry point of the command line. Handles the signals that must be handled before anything else loads, and takes over stdout and stderr; then `program.ts`.
import { useStandardStreams } from "./standard-streams.ts";
import { ignoreStraySignals } from "./stray-signals.ts";

ignoreStraySignals();
useStandardStreams();
await import("./program.ts");
