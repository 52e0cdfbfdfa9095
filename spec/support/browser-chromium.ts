// A real browser for specs: Debian's chromium without a window. If it is not installed, its specs are skipped.
import { afterAll, beforeAll, it } from "@jest/globals";
import { type Browser, chromium, type Page } from "playwright-core";
import { chromiumPath } from "../../scripts/prerequisites.mjs";

/** Only what a page needs: no sandbox (the specs may run as root), and no background connections. */
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A spec that needs a browser. */
export type BrowserSpec = (name: string, body: () => Promise<void>) => void;

/** A browser for the specs of a file. */
export interface InChromium {
  /** Declares a spec. */
  readonly itInChromium: BrowserSpec;
  /** Opens a page whose script sets `globalThis.execwire`; its uncaught errors are collected in `problems`. */
  open(url: string): Promise<Page>;
  /** Uncaught errors of pages. */
  readonly problems: string[];
}

/** Starts a browser before the specs of a file and ends it after them. */
export function useChromium(): InChromium {
  const problems: string[] = [];
  let browser: Browser | undefined;
  beforeAll(async () => {
    // Playwright creates a profile directory for each launch and removes it at the end.
    if (chromiumPath) browser = await chromium.launch({ executablePath: chromiumPath, headless: true, args: ARGS });
  }, 60_000);
  afterAll(() => browser?.close());
  return {
    problems,
    itInChromium: chromiumPath
      ? (name, body) => it(name, body)
      : (name, body) => it.skip(`${name} (chromium is not installed)`, body),
    async open(url) {
      if (!browser) throw new Error("the browser runs only while the specs of its file run");
      const page = await browser.newPage();
      page.on("pageerror", (error) => problems.push(String(error)));
      await page.goto(url);
      await page.waitForFunction("globalThis.execwire !== undefined");
      return page;
    },
  };
}
