// Bundles the command line and its packages into a few files: hundreds of modules take twice as long to load, which each command
// would pay for. Each command remains a file of its own that is loaded only when it runs.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");

/** Not bundled: these packages load native addons from their own folders. */
const external = ["koffi", "node-pty", "msgpackr-extract"];
/** Node would resolve rxjs to CommonJS, which is bundled as a whole; the ES modules can be tree-shaken. */
const alias = { rxjs: join(root, "node_modules/rxjs/dist/esm/index.js") };
/** CommonJS packages need a `require`. */
const banner =
  'import { createRequire as requireFor } from "node:module"; const require = requireFor(import.meta.url);';

/** What runs before Node; it replaces the line `#!/usr/bin/env node`. */
const head = readFileSync(join(root, "lib/cli/head.sh"), "utf8");

/** Replaces tsc's output for the helper that accesses files in a sandbox by one file, the only one that the sandbox shows. */
export async function bundleFileHelper(dist) {
  const path = join(dist, "lib/codex/server/files/file-helper.js");
  const options = { bundle: true, format: "esm", platform: "node", target: "node20", external, logLevel: "warning" };
  // By its name, since the sandbox does not show our package.json with the type of modules.
  await build({ ...options, entryPoints: [path], outfile: path.replace(/js$/, "mjs"), banner: { js: banner } });
  for (const end of ["", ".map"]) rmSync(path + end);
}

/** Replaces tsc's output for the command line in `dist` by the bundle. */
export async function bundleCli(dist) {
  const folder = join(dist, "lib/cli");
  const { outputFiles, metafile } = await build({
    entryPoints: [join(folder, "main.js")],
    outdir: folder,
    // Chunk names include paths: relative to dist, they are the same on every machine and in every build of the same sources.
    absWorkingDir: dist,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external,
    alias,
    banner: { js: banner },
    write: false,
    metafile: true,
    logLevel: "warning",
  });
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  for (const { path, contents } of outputFiles) writeFileSync(path, contents);
  const main = join(folder, "main.js");
  writeFileSync(
    main,
    readFileSync(main, "utf8").replace(/^#!.*\n/, () => head),
  );
  writeFileSync(join(folder, "LICENSES"), licensesOf(Object.keys(metafile.inputs).map((path) => join(dist, path))));
}

/** The licenses of the bundled packages, which must be distributed with the bundle. */
function licensesOf(inputs) {
  const packages = new Set(inputs.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []));
  const texts = [...packages].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    if (!file) throw new Error(`${name} is bundled and has no license file`);
    return `# ${name} ${version}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  });
  return texts.join("\n\n");
}
