#!/usr/bin/env node
// The entry point of the command line. Handles the signals that must be handled before anything else loads; then `program.ts`.
import { closeSignalDoors } from "./signal-doors.ts";

closeSignalDoors();
await import("./program.ts");
