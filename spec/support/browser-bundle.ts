// The client as a web page loads it: lib/browser.ts and everything it imports, bundled from the sources by esbuild. The
// command is run as a program of its own, since inside jest esbuild meets the typed arrays of another realm.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** A script or, where esbuild's own install script ran, a binary: executable either way. */
const esbuild = createRequire(import.meta.url).resolve("esbuild/bin/esbuild");

/** esbuild's metafile of a bundle: the files in it, and their imports. */
export interface Metafile {
  readonly inputs: Readonly<Record<string, { readonly imports: readonly Import[] }>>;
  readonly outputs: Readonly<Record<string, { readonly imports: readonly Import[] }>>;
}

interface Import {
  readonly path: string;
  readonly external?: boolean;
}

/** Bundles an entry of the package (a path below its root) for browsers, as an ES module. */
export async function bundleForBrowsers(
  entry: string,
  scratch: (name: string) => string,
): Promise<{ readonly script: string; readonly metafile: Metafile }> {
  const [outfile, metafile] = [scratch("bundle.js"), scratch("bundle.json")];
  const flags = ["--bundle", "--platform=browser", "--format=esm", "--target=es2022", "--log-level=warning"];
  const paths = [`--outfile=${outfile}`, `--metafile=${metafile}`];
  await promisify(execFile)(esbuild, [entry, ...flags, ...paths], { cwd: root });
  return { script: await readFile(outfile, "utf8"), metafile: JSON.parse(await readFile(metafile, "utf8")) };
}
