// Before the specs: builds dist when a source is newer, so that no spec of the command line tests a stale build. Folders
// count as sources, since only they tell of a deleted file.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const cli = join(root, "dist/lib/cli/main.js");

export default function buildIfStale() {
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
