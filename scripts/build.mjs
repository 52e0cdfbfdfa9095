// Builds dist: tsc for the library, and a bundle of the command line. Builds into a new folder that then replaces dist, so that
// deleted sources leave no stale output, and a program that starts from dist meanwhile finds it complete.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bundleCli, bundleFileHelper } from "./bundle-cli.mjs";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");
const fresh = join(root, `dist.${process.pid}.new`);
const stale = join(root, `dist.${process.pid}.old`);

const tsc = join(root, "node_modules/typescript/bin/tsc");
const args = [tsc, "-p", join(root, "scripts/tsconfig.build.json"), "--outDir", fresh];
const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
const cli = join(fresh, "lib/cli/main.js");
if (existsSync(cli)) {
  await bundleCli(fresh);
  await bundleFileHelper(fresh);
  chmodSync(cli, 0o755);
  if (existsSync(dist)) renameSync(dist, stale);
  renameSync(fresh, dist);
}
for (const folder of [fresh, stale]) rmSync(folder, { recursive: true, force: true });
process.exitCode = status ?? 1;
