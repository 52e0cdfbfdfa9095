#!/usr/bin/env node
// The entry point of the command line. Handles the signals that must be handled before anything else loads; then `program.ts`.
// The bundle begins with `head.sh` instead of the line above.
import { takeStartState } from "../spawn/start-state.ts";
import { keepIgnoredSignals } from "./ignored-signals.ts";
import { ignoreStraySignals } from "./stray-signals.ts";

takeStartState();
ignoreStraySignals();
await keepIgnoredSignals();
await import("./program.ts");
