// Puts the command line and the packages it needs into a few files: as hundreds of modules it takes twice as long to start,
// and it is started for each command. Each command stays a file that is loaded when it is called.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");

/** These have parts in machine code, which they look for beside themselves. */
const external = ["koffi", "node-pty", "msgpackr-extract"];
/** Of rxjs Node gets a form in which everything is loaded; of this one only what is used remains. */
const alias = { rxjs: join(root, "node_modules/rxjs/dist/esm/index.js") };
/** Packages made for `require` expect to find one. */
const banner =
  'import { createRequire as requireFor } from "node:module"; const require = requireFor(import.meta.url);';

/** Bundles what tsc has emitted for the command line in `dist`, in its place. */
export async function bundleCli(dist) {
  const folder = join(dist, "lib/cli");
  const { outputFiles, metafile } = await build({
    entryPoints: [join(folder, "main.js")],
    outdir: folder,
    // What is called after its place is called the same wherever it is built, and the same again when nothing has changed.
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
  writeFileSync(join(folder, "LICENSES"), licensesOf(Object.keys(metafile.inputs).map((path) => join(dist, path))));
}

/** The licenses of the packages that are in the bundle ask to be passed on with it. */
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
