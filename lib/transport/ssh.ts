// The command for a server that is reached through ssh.
import { refuse } from "../errors.ts";

/** How the address of such a server begins. */
export const SSH = "ssh://";

/** The command for `ssh://[USER@]HOST[:PORT]`. A HOST of the user's ssh configuration may have any name. Throws INVALID_PARAMS. */
export function sshCommand(url: string): readonly string[] {
  const [, target = "", port] =
    /^([^\s/:[\]]+|(?:[^\s/:@]+@)?\[[0-9A-Fa-f:.%]+\])(?::(\d{1,5}))?\/?$/.exec(url.slice(SSH.length)) ?? [];
  if (target === "" || target.startsWith("-")) {
    refuse({ field: "url", message: `must be ssh://[USER@]HOST[:PORT], got ${url}` });
  }
  // Brackets belong to the URL and not to the address.
  const destination = target.replace(/\[(.*)\]$/, "$1");
  const options = ["-T", ...(port === undefined ? [] : ["-p", port])];
  return ["ssh", ...options, "--", destination, "execwire serve --listen stdio --shared"];
}
