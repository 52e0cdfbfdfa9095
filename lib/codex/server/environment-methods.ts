// The methods about this host. `environmentConfig/read` is missing on purpose: clients call it only if the server announces it.
import { nothing } from "../decode.ts";
import type { EnvironmentInfo } from "./environment-info.ts";
import type { MethodTable } from "./method.ts";
import { method } from "./method.ts";

/** The methods, the same for all connections. */
export function environmentMethods(info: EnvironmentInfo): MethodTable {
  return {
    "environment/info": method("environment info", nothing, () => info),
    "environment/status": method("environment status", nothing, () => ({ status: "ready" })),
  };
}
