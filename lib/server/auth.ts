// Authentication of clients, and the role that a token grants.
import { createHash, timingSafeEqual } from "node:crypto";

/** `control` may do everything; `view` may only observe: list, attach, subscribe, read. */
export type Role = "control" | "view";

/** How clients authenticate: with a token, or not at all (only for loopback addresses and the user's own unix sockets). */
export type Auth =
  | { readonly kind: "token"; readonly token: string; readonly viewToken?: string }
  | { readonly kind: "none" };

/** The role that `token` grants; undefined if it is missing or wrong. */
export function roleOf(auth: Auth, token: string | undefined): Role | undefined {
  if (auth.kind === "none") return "control";
  if (token === undefined) return undefined;
  if (secretsEqual(auth.token, token)) return "control";
  return auth.viewToken !== undefined && secretsEqual(auth.viewToken, token) ? "view" : undefined;
}

/** Limit on the characters of an Authorization header; any usual token is far shorter. A longer header yields no token. */
export const MAX_AUTHORIZATION_CHARS = 8192;

const SCHEME = "bearer ";

/** The token of an Authorization header. Every step takes linear time, since unauthenticated peers can send any header. */
export function bearerToken(authorization = ""): string | undefined {
  if (authorization.length > MAX_AUTHORIZATION_CHARS) return undefined;
  if (authorization.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return undefined;
  let start = SCHEME.length;
  while (authorization[start] === " ") start += 1;
  return authorization.slice(start).trimEnd() || undefined;
}

/** Compares secrets in a time that depends neither on their contents nor on their lengths. */
export function secretsEqual(expected: string, given: string): boolean {
  return timingSafeEqual(digest(expected), digest(given));
}

function digest(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
