// Lists the benchmarks in scripts/bench with the first line of their comment; `npm run bench -- NAME` runs one.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = join(import.meta.dirname, "bench");
const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".mjs")) : [];
const wanted = process.argv[2];

if (wanted === undefined) {
  for (const name of names.sort()) {
    const purpose = readFileSync(join(folder, name), "utf8").match(/^\/\/ (.*)$/m)?.[1] ?? "";
    console.log(`${name.slice(0, -".mjs".length).padEnd(20)} ${purpose}`);
  }
  if (names.length === 0) console.log("No benchmarks in scripts/bench.");
} else if (names.includes(`${wanted}.mjs`)) {
  await import(pathToFileURL(join(folder, `${wanted}.mjs`)).href);
} else {
  console.error(`No benchmark is named ${wanted}; npm run bench lists them.`);
  process.exitCode = 1;
}
