// Which clients may connect, and with which role.
import { describe, expect, it } from "@jest/globals";
import { bearerToken, MAX_AUTHORIZATION_CHARS, roleOf, secretsEqual } from "../../../lib/server/auth.ts";

describe("the role of a client", () => {
  const auth = { kind: "token", token: "control me", viewToken: "look at me" } as const;

  it.each([
    ["control me", "control"],
    ["look at me", "view"],
    ["control m", undefined],
    ["control me ", undefined],
    ["CONTROL ME", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("of %j is %s", (token, role) => {
    expect(roleOf(auth, token)).toBe(role);
  });

  it("is never viewer if there is no token for viewers", () => {
    expect(roleOf({ kind: "token", token: "x" }, "undefined")).toBeUndefined();
    expect(roleOf({ kind: "token", token: "x" }, "")).toBeUndefined();
  });

  it("is control for every client without authentication", () => {
    expect(roleOf({ kind: "none" }, undefined)).toBe("control");
  });
});

describe("the comparison of secrets", () => {
  it("finds them equal only if they are the same, for all lengths", () => {
    expect(secretsEqual("abc", "abc")).toBe(true);
    for (const other of ["", "ab", "abcd", "abd", "abc\0", "a".repeat(100_000)])
      expect(secretsEqual("abc", other)).toBe(false);
  });
});

describe("the token of an Authorization header", () => {
  it.each([
    ["Bearer abc", "abc"],
    ["bearer  abc ", "abc"],
    ["Basic abc", undefined],
    ["Bearer", undefined],
    // A wrong token and not a missing one, like the exec-server.
    ["Bearer a b", "a b"],
    ["Bearer\tabc", undefined],
    [undefined, undefined],
    ["Bearer   ", undefined],
    ["BEARER \tabc\t ", "\tabc"],
  ])("of %j is %j", (header, token) => {
    expect(bearerToken(header)).toBe(token);
  });

  it("is found fast among blanks of two kinds, on which a backtracking pattern takes seconds", () => {
    const half = MAX_AUTHORIZATION_CHARS / 2 - 10;
    const header = `Bearer ${" ".repeat(half)}${"\u00a0".repeat(half)}`;
    for (let count = 0; count < 1_000; count += 1) expect(bearerToken(header)).toBeUndefined();
    expect(bearerToken(`${header}x`)).toBe(`${"\u00a0".repeat(half)}x`);
  });

  it("is not read from a header longer than any token", () => {
    const longest = "x".repeat(MAX_AUTHORIZATION_CHARS - "Bearer ".length);
    expect(bearerToken(`Bearer ${longest}`)).toBe(longest);
    expect(bearerToken(`Bearer ${longest}x`)).toBeUndefined();
  });
});
