// The package as it is published: what the tarball holds, and that strict projects of users compile against it.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { makeScratch } from "../support/scratch.ts";
import { runProgram } from "../support/system-run.ts";

const root = join(import.meta.dirname, "../..");
const scratch = makeScratch();
const project = scratch("project");
const installed = join(project, "node_modules/execwire");

beforeAll(async () => {
  mkdirSync(join(project, "node_modules"), { recursive: true });
  // The build is there already; `prepare` would build it again.
  const { stdout } = await runProgram(["npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", project], {
    cwd: root,
  });
  await runProgram(["tar", "xzf", join(project, stdout.trim()), "-C", project]);
  await runProgram(["mv", join(project, "package"), installed]);
  const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  for (const name of [...Object.keys(dependencies), "@types/node", "@types/ws", "undici-types"]) {
    const target = join(project, "node_modules", name);
    mkdirSync(join(target, ".."), { recursive: true });
    symlinkSync(join(root, "node_modules", name), target);
  }
  for (const name of readdirSync(join(import.meta.dirname, "projects")))
    copyFileSync(join(import.meta.dirname, "projects", name), join(project, name));
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
  const page = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, "README.md"), "utf8"))?.[1] as string;
  writeFileSync(join(project, "readme-page.ts"), page);
}, 60_000);

/** Compiles a file against the package, checking its declarations too. Returns what the compiler prints. */
async function compile(file: string, compilerOptions: object): Promise<string> {
  const strict = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
  };
  const config = { compilerOptions: { target: "es2022", noEmit: true, ...strict, ...compilerOptions }, files: [file] };
  const path = join(project, `${file}.${JSON.stringify(compilerOptions).length}.json`);
  writeFileSync(path, JSON.stringify(config));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  return (await runProgram([process.execPath, tsc, "-p", path], { cwd: project })).stdout;
}

describe("a strict project of a user compiles against the package", () => {
  const kinds = [
    ["nodenext", { module: "nodenext" }],
    ["bundler", { module: "esnext", moduleResolution: "bundler" }],
  ] as const;

  it.each(kinds)("as a page, without types of Node (%s)", async (_kind, options) => {
    expect(await compile("page.ts", { ...options, lib: ["es2022", "dom"], types: [] })).toBe("");
  });

  it("the page of the README compiles too", async () => {
    expect(await compile("readme-page.ts", { module: "nodenext", lib: ["es2022", "dom"], types: [] })).toBe("");
  });

  it.each(kinds)("as a program on Node, without the DOM (%s)", async (_kind, options) => {
    expect(await compile("program.ts", { ...options, lib: ["es2022"], types: ["node"] })).toBe("");
  });
});

it("every type in a public signature is exported by the same entry", async () => {
  const { stdout, code } = await runProgram([process.execPath, join(root, "scripts/check-exports.mjs"), installed]);
  expect({ stdout, code }).toEqual({ stdout: expect.stringMatching(/^exports ok/), code: 0 });
});

it("the package has the documents, the program, and no specs", () => {
  expect(readdirSync(installed).sort()).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
  expect(readdirSync(join(installed, "dist")).sort()).toEqual(["lib", "protocol"]);
});

it("nothing internal is enumerable on public objects", async () => {
  const script = `import { createSupervisor, serve, connect } from "execwire";
    const supervisor = createSupervisor();
    const server = await serve(supervisor, { auth: { kind: "token", token: "t" }, listen: { host: "127.0.0.1", port: 0 } });
    const backend = await connect(server.url, { token: "t" });
    const process = await backend.start({ argv: ["true"] });
    console.log(JSON.stringify([supervisor, server, backend, backend.link, process].map((each) => Object.keys(each).sort())));
    await backend.close(); await server.close(); await supervisor.close();`;
  writeFileSync(join(project, "keys.js"), script);
  const { stdout } = await runProgram([process.execPath, "keys.js"], { cwd: project });
  expect(JSON.parse(stdout)).toEqual([
    ["changes$"],
    [],
    ["changes$", "link", "sessionRenewed$"],
    ["ready", "state$"],
    ["id", "incarnation"],
  ]);
});
