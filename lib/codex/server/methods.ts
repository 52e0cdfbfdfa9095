// All methods of a connection.
import type { EnvironmentInfo } from "./environment-info.ts";
import { environmentMethods } from "./environment-methods.ts";
import { sandboxedFileMethods } from "./files/sandboxed-methods.ts";
import { httpMethods } from "./http/http-methods.ts";
import type { MethodTable } from "./method.ts";
import { type ProcessScope, processMethods } from "./process-methods.ts";

/** Creates all methods of one connection. */
export function methodsOf(scope: ProcessScope, info: EnvironmentInfo): MethodTable {
  return {
    ...processMethods(scope, info.shell.path),
    ...sandboxedFileMethods(scope),
    ...httpMethods(scope),
    ...environmentMethods(info),
  };
}
