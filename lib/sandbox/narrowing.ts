// Whether one policy allows nothing that another does not. Decided by the paths in their rules alone, so that it can be proved;
// before they are mounted, it must be checked that none of these paths is a symbolic link.
//
// The access of a path is that of the rule with the longest path at or above it. So two policies can differ only where the
// longest such rule, of both together, changes: it is enough to compare them at the paths of their rules.
import type { FileAccess, FileRule, ResourceBounds, SandboxPolicy } from "../../protocol/index.ts";
import { isBelow, PLATFORM_PATHS } from "./file-view.ts";

/** More rules are not compared: the work grows with their third power. */
const MAX_RULES = 400;

const RANK: Readonly<Record<FileAccess, number>> = { none: 0, read: 1, write: 2 };

type Network = NonNullable<SandboxPolicy["network"]>;

/** A rule for one path of the host. */
interface HostRule {
  readonly path: string;
  readonly access: FileAccess;
  /** Does not hold while the path is missing. */
  readonly isSkipped: boolean;
}

/** What `policy` allows beyond `limit`, for a message; undefined if it is proved that there is nothing. */
export function wideningOf(policy: SandboxPolicy, limit: SandboxPolicy): string | undefined {
  const { network = "none", unixSockets = false } = policy;
  const { network: widest = "none", unixSockets: mayConnect = false } = limit;
  if (!isNarrowerNetwork(network, widest)) return `its network is ${networkName(network)}, not ${networkName(widest)}`;
  if (unixSockets && !mayConnect) return "it may connect to unix sockets";
  const [own, allowed] = [hostRules(policy.files), hostRules(limit.files)];
  if (own.length + allowed.length > MAX_RULES) return `it cannot be compared with more than ${MAX_RULES} rules`;
  const paths = [...new Set([...own, ...allowed].map(({ path }) => path))];
  const skipped = new Set([...own, ...allowed].filter(({ isSkipped }) => isSkipped).map(({ path }) => path));
  // Any of these may be missing, with everything below it. What holds for each alone holds for several.
  for (const missing of [undefined, ...skipped]) {
    const [ownLeft, allowedLeft] = [own, allowed].map((rules) => rules.filter((rule) => !isGone(rule, missing)));
    for (const path of paths) {
      const [asked, granted] = [accessOf(path, ownLeft), accessOf(path, allowedLeft)];
      if (RANK[asked] > RANK[granted]) return `${path} would have the access ${asked}, not ${granted}`;
    }
  }
  return undefined;
}

/** A managed network reaches nothing that the full one does not. Two managed ones are not compared. */
function isNarrowerNetwork(network: Network, widest: Network): boolean {
  return network === "none" || widest === "full" || JSON.stringify(network) === JSON.stringify(widest);
}

function networkName(network: Network): string {
  return typeof network === "string" ? network : `managed (${JSON.stringify(network)})`;
}

/** The stricter of each bound. */
export function strictestBounds(a: ResourceBounds = {}, b: ResourceBounds = {}): ResourceBounds {
  const bounds: Record<string, number> = { ...a };
  for (const [name, value] of Object.entries(b)) bounds[name] = Math.min(value, bounds[name] ?? value);
  return bounds;
}

function hostRules(rules: readonly FileRule[]): readonly HostRule[] {
  const named = (name: string) => rules.filter(({ path }) => typeof path === "object" && path.named === name);
  const strictest = (found: readonly FileRule[]) =>
    found.map(({ access }) => access).sort((a, b) => RANK[a] - RANK[b])[0] ?? "none";
  const root = strictest(named("root"));
  const of = (path: string, access: FileAccess): HostRule => ({ path, access, isSkipped: false });
  const platform = root === "none" && strictest(named("platform")) !== "none" ? PLATFORM_PATHS : [];
  return [
    of("/", root),
    ...platform.map((path) => of(path, "read")),
    // Nothing of the host's.
    ...named("tmp").map(() => of("/tmp", "none")),
    ...rules.flatMap(({ path, access, ifMissing }) =>
      typeof path === "string" ? [{ path, access, isSkipped: ifMissing === "skip" }] : [],
    ),
  ];
}

function isGone({ path, isSkipped }: HostRule, missing: string | undefined): boolean {
  return isSkipped && missing !== undefined && (path === missing || isBelow(path, missing));
}

/** By the longest rule; of several for its path, by the strictest. */
function accessOf(path: string, rules: readonly HostRule[] = []): FileAccess {
  let best: HostRule | undefined;
  for (const rule of rules) {
    if (rule.path !== path && !isBelow(path, rule.path)) continue;
    const isLonger = best === undefined || rule.path.length > best.path.length;
    if (isLonger || (rule.path === best?.path && RANK[rule.access] < RANK[best.access])) best = rule;
  }
  return best?.access ?? "none";
}
