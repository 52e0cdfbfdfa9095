// Before the specs: builds dist if a source is newer, so that no spec of the command line tests a stale build, and lists once the
// specs that this machine cannot run. Folders count as sources, since only their mtime changes when a file is deleted. If only
// specs in FROM_SOURCE are requested, which need neither, it does nothing.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { skippedSpecs } from "./prerequisites.mjs";

const root = join(import.meta.dirname, "..");
const cli = join(root, "dist/lib/cli/main.js");

/** Folders whose specs import the sources and run no built program. */
const FROM_SOURCE = /^spec\/(unit|protocol)\b/;

export default function prepare({ testPathPatterns: { patterns } }) {
  if (patterns.length > 0 && patterns.every((pattern) => FROM_SOURCE.test(pattern))) return;
  buildIfStale();
  for (const line of skippedSpecs()) console.warn(`skipped on this machine: ${line}`);
}

function buildIfStale() {
  const newestSource = Math.max(...["lib", "protocol"].map((folder) => newest(join(root, folder))));
  if (existsSync(cli) && statSync(cli).mtimeMs >= newestSource) return;
  spawnSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });
  // Type errors are ignored here, `npm run types` reports them: the emitted code is current.
  if (!existsSync(cli))
    throw new Error("the build emitted no dist, which the specs of the command line need; run npm run build");
}

function newest(folder) {
  const below = readdirSync(folder, { withFileTypes: true, recursive: true });
  const paths = [folder, ...below.map((entry) => join(entry.parentPath, entry.name))];
  return Math.max(...paths.map((path) => statSync(path).mtimeMs));
}
