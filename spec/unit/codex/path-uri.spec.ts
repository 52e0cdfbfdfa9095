// Paths as URIs: which are refused and how, and that a path and its URI name the same file.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { CodexError } from "../../../lib/codex/codex-error.ts";
import { nativePath, parsePathUri, pathUri, toPathUri } from "../../../lib/codex/path-uri.ts";
import { runs } from "../../support/fuzz.ts";

/** The path of a URI, or the code and the message of its refusal. */
function pathOf(text: string): string {
  try {
    return nativePath(parsePathUri(text));
  } catch (error) {
    if (error instanceof CodexError) return `${error.code} ${error.message}`;
    throw error;
  }
}

const isWindows = process.platform === "win32";

(isWindows ? describe.skip : describe)("the path of a URI", () => {
  it.each([
    ["file:///etc/hosts", "/etc/hosts"],
    ["file:", "/"],
    ["file:/tmp", "/tmp"],
    ["file:tmp", "/tmp"],
    ["file:////etc", "/etc"],
    ["FILE:///etc", "/etc"],
    ["file://LOCALHOST/etc", "/etc"],
    ["file://%6cocalhost/etc", "/etc"],
    ["  file:///etc ", "/etc"],
    ["file:///a/./b/../c", "/a/c"],
    ["file:///a/%2e%2e/c", "/c"],
    ["file:///a%2fb%2Fc", "/a/b/c"],
    ["file:///a%20b%23%3F%25", "/a b#?%"],
    ["file:///%E6%97%A5/日", "/日/日"],
    ["file:///%zz%", "/%zz%"],
    ["file:///a%5Cb", "/a\\b"],
    ["file:///a%0Ab", "/a\nb"],
    ["file:///dir/", "/dir/"],
  ])("%j is %j", (text, path) => {
    expect(pathOf(text)).toBe(path);
  });

  it.each([
    ["", "-32602 invalid URI: relative URL without a base"],
    ["/etc", "-32602 invalid URI: relative URL without a base"],
    ["x y", "-32602 invalid URI: relative URL without a base"],
    ["1:", "-32602 invalid URI: relative URL without a base"],
    ["http:", "-32602 invalid URI: empty host"],
    ["file://a b/x", "-32602 invalid URI: invalid international domain name"],
    ["file://user@localhost/etc", "-32602 invalid URI: invalid international domain name"],
    ["http://a/b", "-32602 unsupported path URI scheme `http`"],
    ["C:\\x", "-32602 unsupported path URI scheme `c`"],
    ["file:///etc?", "-32602 query parameters are not allowed in path URIs"],
    ["file:///tmp?x=1", "-32602 query parameters are not allowed in path URIs"],
    ["file:///tmp#frag", "-32602 fragments are not allowed in path URIs"],
    ["file:///tmp#a?b", "-32602 fragments are not allowed in path URIs"],
    ["file:///etc#", "-32602 fragments are not allowed in path URIs"],
    ["file:///a%00b", `-32602 'file:///a%00b' is invalid on '${process.platform}'`],
    ["file://host/etc", `-32600 'file://host/etc' is invalid on '${process.platform}'`],
    ["file://[::1]/x", `-32600 'file://[::1]/x' is invalid on '${process.platform}'`],
    ["file:///C:/x", `-32600 'file:///C:/x' is invalid on '${process.platform}'`],
    ["file:///%ff", `-32600 'file:///%ff' is invalid on '${process.platform}'`],
  ])("%j is refused", (text, words) => {
    expect(pathOf(text)).toBe(words);
  });

  it("must be a string", () => {
    expect(() => pathUri.decode(5)).toThrow("invalid type: number, expected a string");
  });
});

(isWindows ? describe.skip : describe)("the URI of a path", () => {
  it("escapes the characters that the exec-server escapes", () => {
    const plain = "!$&'()*+,:;=@[]^|~";
    expect(toPathUri(`/a${plain}b`)).toBe(`file:///a${plain}b`);
    expect(toPathUri('/ "#%<>?\\`{}\u007f\u0001é日')).toBe(
      "file:///%20%22%23%25%3C%3E%3F%5C%60%7B%7D%7F%01%C3%A9%E6%97%A5",
    );
    expect(toPathUri("/%5B")).toBe("file:///%255B");
    expect(toPathUri("/a/../b/")).toBe("file:///b");
  });

  it("is converted back to the same path", () => {
    const name = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 12 })
      .map((text) => text.replace(/[/\0]/g, "_"))
      // On POSIX a drive is refused, like at the exec-server.
      .filter((text) => text !== "." && text !== ".." && !/^[a-z]:$/i.test(text));
    fc.assert(
      fc.property(fc.array(name, { maxLength: 4 }), (names) => {
        const path = `/${names.join("/")}`;
        expect(pathOf(toPathUri(path))).toBe(path);
      }),
      runs(1000),
    );
  });
});
