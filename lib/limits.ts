// Overrides of limits, as supervisors, servers and clients take them.
import { checkLimits, type Limits, limits, present } from "../protocol/index.ts";
import { refuse } from "./errors.ts";

/** All limits, with these instead of the defaults. Throws INVALID_PARAMS for one that is none, naming its field. */
export function withDefaults(overrides: Partial<Limits> = {}): Limits {
  refuse(checkLimits(overrides));
  return { ...limits, ...present(overrides) };
}
