// Responses to plain HTTP requests and to upgrades, as the exec-server sends them: `/readyz` for probes, a WebSocket at `/`.
import { type Auth, bearerToken, roleOf } from "../../../server/auth.ts";
import type { HttpAnswer, HttpRequest } from "../../../transport/websocket/websocket-server.ts";

/** The response to a request that is not an upgrade. */
export function plainAnswer({ method, url, headers }: HttpRequest): HttpAnswer {
  if (headers.origin !== undefined) return { status: 403, text: "" };
  const path = pathOf(url);
  if (path === "/readyz") return { status: method === "GET" || method === "HEAD" ? 200 : 405, text: "" };
  if (path !== "/") return { status: 404, text: "" };
  if (method !== "GET") return { status: 405, text: "Request method must be `GET`" };
  return { status: 400, text: "Connection header did not include 'upgrade'" };
}

/** Returns why an upgrade is refused; undefined accepts it. */
export function upgradeRefusal({ url, headers: { authorization } }: HttpRequest, auth: Auth): HttpAnswer | undefined {
  if (pathOf(url) !== "/") return { status: 404, text: "" };
  const token = bearerToken(authorization);
  const role = roleOf(auth, token);
  if (role === "control") return undefined;
  if (role === "view") return { status: 403, text: "a view token cannot be used with the Codex protocol" };
  if (authorization === undefined) return { status: 401, text: "missing websocket bearer token" };
  return { status: 401, text: token === undefined ? "invalid authorization header" : "invalid websocket bearer token" };
}

function pathOf(url: string | undefined): string {
  return url?.split("?", 1)[0] ?? "/";
}
