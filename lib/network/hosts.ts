// Names and addresses of hosts: their one canonical form, the patterns that match it, and which addresses are public. A program
// may write an address in many ways (127.1, 0x7f.0.0.1, 2130706433, ::ffff:127.0.0.1); all checks see the canonical form only.
import { BlockList, isIP, isIPv6 } from "node:net";

/** Longest host name (RFC 1035). */
const MAX_CHARS = 253;
/** What a URL would not take as part of its host. */
const NOT_IN_HOSTS = /[\s/\\@?#]|\p{Cc}/u;

/** Addresses that are not public: IANA's special-purpose registries, and those that embed an IPv4 address. */
const SPECIAL = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  // With the address at which cloud providers serve credentials.
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  // The same service on Azure.
  "168.63.129.16/32",
  "::/96",
  "::ffff:0:0:0/96",
  "64:ff9b::/96",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
  "5f00::/16",
  "fc00::/7",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
];

const specialAddresses = new BlockList();
for (const range of SPECIAL) {
  const [network = "", bits] = range.split("/");
  specialAddresses.addSubnet(network, Number(bits), isIPv6(network) ? "ipv6" : "ipv4");
}

/** The canonical form of a host name or address; undefined if it is neither. Names in other scripts become ASCII (IDNA). */
export function canonicalHost(host: string): string | undefined {
  if (host === "" || host.length > MAX_CHARS + 1 || NOT_IN_HOSTS.test(host)) return undefined;
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  if (bare.includes(":") && !isIPv6(bare)) return undefined;
  const url = parse(isIPv6(bare) ? `[${bare}]` : bare);
  if (url === undefined) return undefined;
  const name = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  // An IPv4 address in IPv6 form is reached as the IPv4 address.
  return embeddedIpv4(name) ?? (name === "" ? undefined : name);
}

/** Whether a pattern of `ManagedNetwork` matches a canonical host. */
export function matches(pattern: string, host: string): boolean {
  if (pattern === "*") return true;
  const [, stars = "", name = ""] = /^(\*{1,2}\.)?(.*)$/s.exec(pattern) ?? [];
  const canonical = canonicalHost(name);
  if (canonical === undefined) return false;
  if (stars !== "" && host.endsWith(`.${canonical}`) && isIP(host) === 0) return true;
  return stars !== "*." && host === canonical;
}

/** Whether an address belongs to a host of the public internet. */
export function isPublic(address: string): boolean {
  // An address with a zone, fe80::1%eth0, is link-local.
  const family = isIP(address);
  if (family === 0 || address.includes("%")) return false;
  if (family === 4) return !specialAddresses.check(address, "ipv4");
  const embedded = embeddedIpv4(canonicalHost(address) ?? "");
  return embedded === undefined ? !specialAddresses.check(address, "ipv6") : isPublic(embedded);
}

/** Whether a canonical host is one of the names that always mean this machine (RFC 6761). */
export function isLocalName(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

/** The IPv4 address in `::ffff:a.b.c.d`, which canonical form writes as two hexadecimal groups. */
function embeddedIpv4(address: string): string | undefined {
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join(".");
}

function parse(host: string): URL | undefined {
  try {
    return new URL(`http://${host}/`);
  } catch {
    return undefined;
  }
}
