#!/usr/bin/env node
// The entry point of the command line. Handles the signals that must be handled before anything else loads; then `program.ts`.
import { ignoreStraySignals } from "./stray-signals.ts";

ignoreStraySignals();
await import("./program.ts");
