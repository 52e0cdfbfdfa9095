// Before the specs: builds dist when a source is newer, so that no spec of the command line tests a stale build, and says
// once which specs this machine lacks a program for. Folders count as sources, since only they change with a deleted file.
// The specs in FROM_SOURCE need neither, and nothing is done where only those were asked for.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { leftOut } from "./prerequisites.mjs";

const root = join(import.meta.dirname, "..");
const cli = join(root, "dist/lib/cli/main.js");

/** Folders whose specs import the sources and run no built program. */
const FROM_SOURCE = /^spec\/(unit|protocol)\b/;

export default function prepare({ testPathPatterns: { patterns } }) {
  if (patterns.length > 0 && patterns.every((pattern) => FROM_SOURCE.test(pattern))) return;
  buildIfStale();
  for (const line of leftOut()) console.warn(`left out here: ${line}`);
}

function buildIfStale() {
  const newestSource = Math.max(...["lib", "protocol"].map((folder) => newest(join(root, folder))));
  if (existsSync(cli) && statSync(cli).mtimeMs >= newestSource) return;
  spawnSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });
  // A type error is for `npm run types` to judge; what was emitted is the code as it is now.
  if (!existsSync(cli)) throw new Error("the build emitted nothing; the specs of the command line need dist");
}

function newest(folder) {
  const below = readdirSync(folder, { withFileTypes: true, recursive: true });
  const paths = [folder, ...below.map((entry) => join(entry.parentPath, entry.name))];
  return Math.max(...paths.map((path) => statSync(path).mtimeMs));
}
