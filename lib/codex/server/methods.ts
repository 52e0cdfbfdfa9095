// All methods of a connection.
import type { SandboxPolicy } from "../../../protocol/index.ts";
import type { EnvironmentInfo } from "./environment-info.ts";
import { environmentMethods } from "./environment-methods.ts";
import { sandboxedFileMethods } from "./files/sandboxed-methods.ts";
import { httpMethods } from "./http/http-methods.ts";
import type { MethodTable } from "./method.ts";
import { type ProcessScope, processMethods } from "./process-methods.ts";
import { sandboxUnavailable } from "./sandbox-request.ts";

/** What the methods use of their host. */
export interface MethodHost {
  readonly info: EnvironmentInfo;
  readonly sandbox: SandboxPolicy | undefined;
}

/** Creates all methods of one connection. */
export function methodsOf(scope: ProcessScope, { info, sandbox }: MethodHost): MethodTable {
  const http = httpMethods(scope);
  const isCutOff = sandbox !== undefined && sandbox.network !== "full";
  return {
    ...processMethods(scope, info.shell.path),
    ...sandboxedFileMethods(scope, sandbox),
    ...(isCutOff ? refused(http, "the sandbox of this exec-server has no network") : http),
    ...environmentMethods(info),
  };
}

/** The same methods, which decode their params and do nothing else. */
function refused(methods: MethodTable, reason: string): MethodTable {
  const refuse = async () => {
    throw sandboxUnavailable(reason);
  };
  return Object.fromEntries(
    Object.entries(methods).map(([name, { group, prepare }]) => {
      const checked = (params: unknown) => {
        prepare(params);
        return refuse;
      };
      return [name, { group, prepare: checked, call: async (params: unknown) => checked(params)() }];
    }),
  );
}
