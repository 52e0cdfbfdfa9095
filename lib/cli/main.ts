#!/usr/bin/env node
// The entry point of the command line. Handles the signals that must be handled before anything else loads, and takes over stdout
// and stderr; then `program.ts`. The bundle begins with `head.sh` instead of the line above.
import { takeStartState } from "../spawn/start-state.ts";
import { keepIgnoredSignals } from "./ignored-signals.ts";
import { useStandardStreams } from "./standard-streams.ts";
import { ignoreStraySignals } from "./stray-signals.ts";

takeStartState();
ignoreStraySignals();
await keepIgnoredSignals();
useStandardStreams();
await import("./program.ts");
