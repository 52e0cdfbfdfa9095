// Who may connect, and what for.
import { createHash, timingSafeEqual } from "node:crypto";

/** `control` may do everything; `view` may look: list, attach, subscribe, read. */
export type Role = "control" | "view";

/** How clients are told apart: by a secret, or not at all (loopback and unix sockets of one's own only). */
export type Auth =
  | { readonly kind: "token"; readonly token: string; readonly viewToken?: string }
  | { readonly kind: "none" };

/** The role of who shows `token`; undefined for a stranger. */
export function roleOf(auth: Auth, token: string | undefined): Role | undefined {
  if (auth.kind === "none") return "control";
  if (token === undefined) return undefined;
  if (secretsEqual(auth.token, token)) return "control";
  return auth.viewToken !== undefined && secretsEqual(auth.viewToken, token) ? "view" : undefined;
}

/** Characters of an Authorization header at most: a token of any usual kind with room to spare. A longer one holds no token. */
export const MAX_AUTHORIZATION_CHARS = 8192;

const SCHEME = "bearer ";

/** The token of an Authorization header. By steps that are each linear: the header comes from peers without a token, too. */
export function bearerToken(authorization = ""): string | undefined {
  if (authorization.length > MAX_AUTHORIZATION_CHARS) return undefined;
  if (authorization.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return undefined;
  let start = SCHEME.length;
  while (authorization[start] === " ") start += 1;
  return authorization.slice(start).trimEnd() || undefined;
}

/** Compares secrets in a time that tells nothing about them, nor about their lengths. */
export function secretsEqual(expected: string, given: string): boolean {
  return timingSafeEqual(digest(expected), digest(given));
}

function digest(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
