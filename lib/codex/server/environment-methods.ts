// What this host is, and that it is there. `environmentConfig/read` is not in it: only a
// server that announces it is asked for it.
import { nothing } from "../decode.ts";
import type { EnvironmentInfo } from "./environment-info.ts";
import type { Methods } from "./method.ts";
import { method } from "./method.ts";

/** The methods of a server on this host; the same for all connections. */
export function environmentMethods(info: EnvironmentInfo): Methods {
  return {
    "environment/info": method("environment info", nothing, () => info),
    "environment/status": method("environment status", nothing, () => ({ status: "ready" })),
  };
}
