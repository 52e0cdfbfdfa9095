// What a server on this machine needs beside its socket: a token, and a way for the user's other terminals to find both.

import { join } from "node:path";
import { present } from "../../protocol/index.ts";
import type { Auth } from "../server/auth.ts";
import type { ListenAddress } from "../server/server.ts";
import { say } from "./report.ts";
import { makeRuntimeDirectory, publishRuntimeFile, withdrawRuntimeFile } from "./runtime-directory.ts";
import { readOrMakeTokenFile, removeTokenFile, replaceTokenFile } from "./token-file.ts";

/** Who is let in. */
export interface Admission {
  readonly auth: Auth;
  readonly tokenFile?: string;
  /** What the user should know of this choice. */
  readonly warnings: readonly string[];
  /** Removes what was made for this run. */
  forget(): void;
}

/** How the command line says it. */
export interface AdmissionOptions {
  readonly listen: ListenAddress | "stdio";
  readonly auth: "token" | "none";
  readonly tokenFile?: string;
}

/** Reads or makes the token. Throws when the place for it is not safe. */
export function admit({ listen, auth, tokenFile }: AdmissionOptions): Admission {
  const isTcp = typeof listen === "object" && "host" in listen;
  if (auth === "none") {
    const warning = "without a token every user of this machine can run commands as you; leave out --auth none";
    return { auth: { kind: "none" }, warnings: isTcp ? [warning] : [], forget: () => undefined };
  }
  const warnings = isTcp && !/^(127\.|::1$|localhost$)/.test(listen.host) ? [UNENCRYPTED] : [];
  if (tokenFile !== undefined) {
    const token = readOrMakeTokenFile(tokenFile);
    return { auth: { kind: "token", token }, tokenFile, warnings, forget: () => undefined };
  }
  const own = join(makeRuntimeDirectory(), `token-${process.pid}`);
  const token = replaceTokenFile(own);
  return { auth: { kind: "token", token }, tokenFile: own, warnings, forget: () => removeTokenFile(own) };
}

const UNENCRYPTED = "connections from other machines are not encrypted: anyone on the way can read them, and the token";

/** Lets other terminals find this server; returns how to take that back. A server that nobody finds is still a server. */
export async function publish(url: string, { tokenFile }: Admission): Promise<() => void> {
  try {
    const other = await publishRuntimeFile(present({ url, pid: process.pid, tokenFile }));
    if (other !== undefined) say(`other terminals use the server of pid ${other}; for this one they need --url`);
  } catch (error) {
    say(`other terminals will not find this server by themselves: ${(error as Error).message}`);
  }
  return withdrawRuntimeFile;
}
