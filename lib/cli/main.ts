#!/usr/bin/env node
// The entry of the command line. What must be true before any of it is loaded is made true here; the rest is `program.ts`.
import { closeSignalDoors } from "./signal-doors.ts";

closeSignalDoors();
await import("./program.ts");
