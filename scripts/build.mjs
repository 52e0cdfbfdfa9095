// Builds dist with tsc: from an empty folder, so that a deleted source leaves no stale output, and with an executable CLI.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const cli = join(root, "dist/lib/cli/main.js");

rmSync(join(root, "dist"), { recursive: true, force: true });
const tsc = join(root, "node_modules/typescript/bin/tsc");
const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, "scripts/tsconfig.build.json")], {
  stdio: "inherit",
});
if (existsSync(cli)) chmodSync(cli, 0o755);
process.exitCode = status ?? 1;
