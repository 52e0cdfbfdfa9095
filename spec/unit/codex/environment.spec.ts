// What a server reports about its host.
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { basename } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { nativePath, parsePathUri } from "../../../lib/codex/path-uri.ts";
import { environmentInfo, findShell } from "../../../lib/codex/server/environment-info.ts";
import { environmentMethods } from "../../../lib/codex/server/environment-methods.ts";
import { makeScratch } from "../../support/scratch.ts";

const scratch = makeScratch();
const pathOf = (uri: string) => nativePath(parsePathUri(uri));

describe("the information on the host", () => {
  it("names an existing shell by a name that clients know", async () => {
    const { shell } = await environmentInfo();
    expect(["bash", "zsh", "sh"]).toContain(shell.name);
    expect(basename(shell.path)).toBe(shell.name);
    expect(existsSync(shell.path)).toBe(true);
  });

  it("names folders as URIs", async () => {
    const info = await environmentInfo({});
    expect(pathOf(String(info.cwd))).toBe(process.cwd());
    expect(pathOf(info.userHomeDir)).toBe(homedir());
    expect(pathOf(info.tempDir)).toBe(tmpdir());
    expect(info).toMatchObject({ prependPathDirs: [], temporaryDirectories: [] });
  });

  it("follows HOME and TMPDIR", async () => {
    const info = await environmentInfo({ HOME: "/some home", TMPDIR: "/some/temp/" });
    expect(info).toMatchObject({
      userHomeDir: "file:///some%20home",
      tempDir: "file:///some/temp",
      temporaryDirectories: ["file:///some/temp"],
    });
  });

  it("has the version of this package, and the system by its name in the protocol", async () => {
    const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
    const { executorVersion, platformOs } = await environmentInfo();
    expect(executorVersion).toBe(version);
    expect(platformOs).toBe({ linux: "linux", darwin: "macos", win32: "windows" }[process.platform as string]);
  });

  it("announces only features that work", async () => {
    expect((await environmentInfo()).capabilities).toEqual({
      fsWatchMissing: true,
      fileWriteStreaming: true,
      httpHeaderEnvVars: true,
      networkProxyLaunch: true,
      shellSnapshotV2: process.platform === "linux",
    });
  });
});

describe("the shell of the host", () => {
  it("is the first one that exists, can be executed, and has a known name", async () => {
    writeFileSync(scratch("fish"), "");
    writeFileSync(scratch("bash"), "");
    writeFileSync(scratch("zsh"), "");
    for (const name of ["fish", "zsh"]) chmodSync(scratch(name), 0o755);
    chmodSync(scratch("bash"), 0o644);
    const candidates = [null, undefined, "", "zsh", scratch("fish"), scratch("sh"), scratch("zsh"), "/bin/sh"];
    expect(await findShell(candidates)).toEqual({ name: "zsh", path: scratch("zsh") });
  });

  it("is /bin/sh if there is no other", async () => {
    expect(await findShell([scratch("none")])).toEqual({ name: "sh", path: "/bin/sh" });
  });
});

describe("the methods of the Codex protocol", () => {
  const call = async (name: string, params?: unknown) =>
    environmentMethods(await environmentInfo())[name]!.call(params);

  it("answer with the information, and that the host is available", async () => {
    expect(await call("environment/info")).toEqual(await environmentInfo());
    for (const params of [undefined, null, {}]) {
      expect(await call("environment/status", params)).toEqual({ status: "ready" });
    }
  });

  it.each(["environment/info", "environment/status"])("%s accepts no params", async (name) => {
    await expect(call(name, { a: 1 })).rejects.toMatchObject({
      code: -32602,
      message: "invalid type: map, expected unit",
    });
    await expect(call(name, [])).rejects.toMatchObject({ message: "invalid type: sequence, expected unit" });
  });

  it("do not include features that are not announced", async () => {
    expect(Object.keys(environmentMethods(await environmentInfo()))).toEqual([
      "environment/info",
      "environment/status",
    ]);
  });
});
