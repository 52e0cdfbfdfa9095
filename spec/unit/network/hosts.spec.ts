// The forms of host names and addresses, and which of them a pattern matches.
import { describe, expect, it } from "@jest/globals";
import { canonicalHost, isPublic, matches } from "../../../lib/network/hosts.ts";

describe("a host has one canonical form", () => {
  it.each([
    ["Api.Test.", "api.test"],
    ["127.1", "127.0.0.1"],
    ["2130706433", "127.0.0.1"],
    ["0x7f.0.0.1", "127.0.0.1"],
    ["017700000001", "127.0.0.1"],
    ["::ffff:127.0.0.1", "127.0.0.1"],
    ["[::1]", "::1"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["b\u00fccher.test", "xn--bcher-kva.test"],
  ])("%s is %s", (host, canonical) => {
    expect(canonicalHost(host)).toBe(canonical);
  });

  it.each([
    ["", "a b", "a/b", "a\\b", "user@host", "host?x", "host#x", "a\0b", "a\nb", "host:80", "256.1.1.1", "%", "."],
  ])("%p is none", (...hosts) => {
    for (const host of hosts) expect(canonicalHost(host)).toBeUndefined();
  });
});

describe("a pattern matches", () => {
  it.each([
    ["api.test", ["api.test"], ["x.api.test", "xapi.test", "api.test.other"]],
    ["*.api.test", ["x.api.test", "y.x.api.test"], ["api.test", "xapi.test"]],
    ["**.api.test", ["api.test", "x.api.test"], ["xapi.test"]],
    ["*", ["api.test", "127.0.0.1"], []],
    ["127.1", ["127.0.0.1"], ["127.0.0.2"]],
    ["*.0.0.1", [], ["127.0.0.1"]],
    ["API.test.", ["api.test"], []],
  ])("%s: %p and not %p", (pattern, hosts, others) => {
    expect(hosts.filter((host) => !matches(pattern, host))).toEqual([]);
    expect(others.filter((host) => matches(pattern, host))).toEqual([]);
  });
});

describe("an address is public", () => {
  it.each(["1.1.1.1", "8.8.8.8", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8"])("%s", (address) => {
    expect(isPublic(address)).toBe(true);
  });

  it.each([
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "169.254.169.254",
    "168.63.129.16",
    "172.31.255.255",
    "192.168.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:a00:1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:0:1::1",
    "fd00::1",
    "fe80::1",
    "fe80::1%eth0",
    "ff02::1",
    "name.test",
  ])("not %s", (address) => {
    expect(isPublic(address)).toBe(false);
  });
});
