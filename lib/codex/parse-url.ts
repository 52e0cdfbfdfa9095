// Parses URLs, with the exec-server's reason when one is invalid; Node only reports "Invalid URL".

/** Parses an absolute URL. Throws an Error with the reason when it is invalid. */
export function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw new Error(urlFault(text.trim()));
  }
}

function urlFault(text: string): string {
  const [, authority] = /^[a-z][a-z0-9+.-]*:[/\\]*([^/\\?#]*)/i.exec(text) ?? [];
  if (authority === undefined) return "relative URL without a base";
  if (authority === "") return "empty host";
  const [, port] = /:([^:\]]*)$/.exec(authority) ?? [];
  if (!text.toLowerCase().startsWith("file:") && port && !(Number(port) < 65_536)) return "invalid port number";
  return authority.includes("[") ? "invalid IPv6 address" : "invalid international domain name";
}
