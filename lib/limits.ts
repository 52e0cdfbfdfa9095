// Overrides of limits, as the options of supervisors, servers and clients accept them.
import { checkLimits, type Limits, limits, present } from "../protocol/index.ts";
import { refuse } from "./errors.ts";

/** The default limits with these overrides. Throws INVALID_PARAMS for an unknown name or an invalid value; `field` names it. */
export function withDefaults(overrides: Partial<Limits> = {}): Limits {
  refuse(checkLimits(overrides));
  return { ...limits, ...present(overrides) };
}
