// Overrides of limits, as supervisors, servers and clients accept them.
import { checkLimits, type Limits, limits, present } from "../protocol/index.ts";
import { refuse } from "./errors.ts";

/** All limits, with these overrides of the defaults. Throws INVALID_PARAMS, naming the field, for an invalid one. */
export function withDefaults(overrides: Partial<Limits> = {}): Limits {
  refuse(checkLimits(overrides));
  return { ...limits, ...present(overrides) };
}
