// The token of a server on this machine, and its publication for the user's other terminals.
import { join } from "node:path";
import { present } from "../../../protocol/index.ts";
import type { Auth } from "../../server/auth.ts";
import type { ListenAddress } from "../../server/server.ts";
import { say } from "../report.ts";
import { makeRuntimeDirectory, publishRuntimeFile, whyNotNamed, withdrawRuntimeFile } from "./runtime-directory.ts";
import { readOrMakeTokenFile, removeTokenFile, replaceTokenFile } from "./token-file.ts";

/** How clients authenticate. */
export interface Credentials {
  readonly auth: Auth;
  readonly tokenFile?: string;
  /** Risks of this configuration, for the user. */
  readonly warnings: readonly string[];
  /** Removes the token file if it was created for this run only. */
  remove(): void;
}

/** The options of `execwire serve` that select the credentials. */
export interface CredentialsOptions {
  readonly listen: ListenAddress | "stdio";
  readonly auth: "token" | "none";
  readonly tokenFile?: string;
}

/** Reads or creates the token. Throws when its directory is not safe. */
export function loadCredentials({ listen, auth, tokenFile }: CredentialsOptions): Credentials {
  const isTcp = typeof listen === "object" && "host" in listen;
  if (auth === "none") {
    const warning = "without a token every user of this machine can run commands as you; leave out --auth none";
    return { auth: { kind: "none" }, warnings: isTcp ? [warning] : [], remove: () => undefined };
  }
  const place = whyNotNamed();
  const warnings = isTcp && !/^(127\.|::1$|localhost$)/.test(listen.host) ? [UNENCRYPTED] : [];
  if (tokenFile !== undefined) {
    const token = readOrMakeTokenFile(tokenFile);
    return { auth: { kind: "token", token }, tokenFile, warnings, remove: () => undefined };
  }
  const path = join(makeRuntimeDirectory(), `token-${process.pid}`);
  const token = replaceTokenFile(path);
  if (place !== undefined) warnings.push(place);
  return { auth: { kind: "token", token }, tokenFile: path, warnings, remove: () => removeTokenFile(path) };
}

const UNENCRYPTED =
  "connections from other machines are not encrypted: anyone on the network path can read them, and the token";

/** Publishes this server for other terminals; the returned function undoes it. A failure is only reported: `--url` still works. */
export async function publish(url: string, { tokenFile }: Credentials): Promise<() => void> {
  try {
    const other = await publishRuntimeFile(present({ url, pid: process.pid, tokenFile }));
    if (other !== undefined) {
      const token = tokenFile === undefined ? "" : ` --token-file ${tokenFile}`;
      say(`other terminals use the server with pid ${other}; to use this one, pass --url ${url}${token}`);
    }
  } catch (error) {
    say(`other terminals need --url to find this server: ${(error as Error).message}`);
  }
  return withdrawRuntimeFile;
}
