// The client in a real browser, against a real server: what a web app does with execwire, from start to a lost connection.
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import type { Page } from "playwright-core";
import { firstValueFrom } from "rxjs";
import { createSupervisor, type ExecwireServer, serve } from "../../lib/index.ts";
import { bundleForBrowsers } from "../support/browser-bundle.ts";
import { useChromium } from "../support/browser-chromium.ts";
import { type Pages, servePages } from "../support/browser-pages.ts";
import { type CuttableProxy, proxyTo } from "../support/browser-proxy.ts";
import { printed } from "../support/outcome.ts";
import { makeScratch } from "../support/scratch.ts";

/** What a page has once it is loaded. */
type InPage = typeof globalThis & {
  readonly execwire: typeof import("../../lib/browser.ts");
  readonly proceed: (step: string) => Promise<void>;
};

const TOKEN = "a token of these specs";
/** Prints what it reads, line by line, until the end of its input. */
const ECHO = ["/bin/sh", "-c", 'while read -r line; do echo "got $line"; done; exit 3'];

const scratch = makeScratch();
const { itInChromium, open, problems } = useChromium();
const supervisor = createSupervisor();
let pages: Pages;
let strangers: Pages;
let server: ExecwireServer;
let proxy: CuttableProxy;

beforeAll(async () => {
  const { script } = await bundleForBrowsers("lib/browser.ts", scratch);
  pages = await servePages(script);
  strangers = await servePages(script);
  server = await serve(supervisor, {
    auth: { kind: "token", token: TOKEN },
    listen: { host: "127.0.0.1", port: 0 },
    allowedOrigins: [pages.origin],
  });
  proxy = await proxyTo(server.url as string);
}, 60_000);

afterAll(async () => {
  await Promise.all([proxy, server, pages, strangers].map((opened) => opened?.close()));
  await supervisor.close({ graceMs: 0 });
});

/** Calls `proceed` of the page lead here; `steps` says what happens at each. */
async function openPage(steps: Readonly<Record<string, () => Promise<void> | void>> = {}): Promise<Page> {
  const page = await open(pages.origin);
  await page.exposeFunction("proceed", (step: string) => steps[step]?.());
  return page;
}

const target = () => ({ url: server.url as string, token: TOKEN });
const proxied = () => ({ url: proxy.url, token: TOKEN });

/** Connects from a page and answers with what became of it. */
function tryToConnect(page: Page, address: { url: string; token: string }): Promise<string> {
  return page.evaluate(async ({ url, token }) => {
    const { connect } = (globalThis as InPage).execwire;
    return connect(url, { token }).then(
      async (backend) => {
        await backend.close();
        return "connected";
      },
      (error) => error.code,
    );
  }, address);
}

describe("the client in a browser", () => {
  itInChromium("starts a process, follows its output, types into it and learns its exit and its end", async () => {
    const page = await openPage();
    const seen = await page.evaluate(
      async ({ url, token, argv }) => {
        const { connect } = (globalThis as InPage).execwire;
        const backend = await connect(url, { token });
        const process = await backend.start({ argv, pipeStdin: true });
        const seen: unknown[] = [];
        const decoder = new TextDecoder();
        const printed = new Promise<void>((resolve) => {
          process.output$.subscribe((event) => {
            seen.push(event.type === "output" ? [event.seq, event.stream, decoder.decode(event.chunk)] : event);
            resolve();
          });
        });
        process.exit$.subscribe(({ seq, exitCode, signal, result }) => seen.push([seq, exitCode, signal, result]));
        const closed = new Promise<void>((resolve) => {
          process.closed$.subscribe({ next: ({ seq, bytes }) => seen.push([seq, bytes]), complete: resolve });
        });
        seen.push(await process.write("one\n"));
        await printed;
        seen.push(await process.write(new TextEncoder().encode("two\n")));
        seen.push(await process.closeStdin());
        await closed;
        await backend.close();
        return seen;
      },
      { ...target(), argv: ECHO },
    );

    const statuses = seen.filter((element) => element === "accepted");
    expect(statuses).toHaveLength(3);
    expect(seen.filter((element) => element !== "accepted")).toEqual([
      [1, "stdout", "got one\n"],
      [2, "stdout", "got two\n"],
      [3, 3, null, "error"],
      [4, { stdout: 16, stderr: 0, pty: 0 }],
    ]);
  });

  itInChromium("gives the output as lines, also to a page that attaches late", async () => {
    const local = await supervisor.start({ argv: ["printf", "früh\\nspät\\n"] });
    await firstValueFrom(local.closed$);
    const page = await openPage();
    const lines = await page.evaluate(
      async ({ url, token, id }) => {
        const { connect, lines } = (globalThis as InPage).execwire;
        const backend = await connect(url, { token });
        const seen: string[] = [];
        const process = await backend.attach(id);
        await new Promise<void>((resolve) => {
          lines(process).subscribe({ next: ({ text }) => seen.push(text), complete: resolve });
        });
        await backend.close();
        return seen;
      },
      { ...target(), id: local.id },
    );

    expect(lines).toEqual(["früh", "spät"]);
  });

  itInChromium(
    "comes back after a cut: what was printed and written meanwhile arrives, once and in order",
    async () => {
      let unblock = () => {};
      const page = await openPage({
        cut: () => {
          unblock = proxy.block();
        },
        // While the page is away, somebody else makes the process print.
        away: async () => {
          const local = await supervisor.attach("cut-off");
          await local.write("two\n");
          await printed(local, "got two\n");
        },
        back: () => unblock(),
      });
      const seen = await page.evaluate(
        async ({ url, token, argv }) => {
          const { execwire, proceed } = globalThis as InPage;
          const backend = await execwire.connect(url, { token });
          const states: string[] = [];
          const output: unknown[] = [];
          const recovering = new Promise<void>((resolve) => {
            backend.link.state$.subscribe((state) => {
              states.push(state);
              if (state === "recovering") resolve();
            });
          });
          const process = await backend.start({ argv, pipeStdin: true, processId: "cut-off" });
          const decoder = new TextDecoder();
          const first = new Promise<void>((resolve) => {
            process.events().subscribe((event) => {
              output.push(event.type === "output" ? [event.seq, decoder.decode(event.chunk)] : event.type);
              resolve();
            });
          });
          await process.write("one\n");
          await first;
          await proceed("cut");
          await recovering;
          await proceed("away");
          // Written without a connection: both wait for it, and keep their order.
          const status = process.write("three\n");
          const end = process.closeStdin();
          await proceed("back");
          const statuses = [await status, await end];
          await new Promise<void>((resolve) => process.closed$.subscribe({ complete: resolve }));
          await backend.close();
          return { states, output, statuses };
        },
        { ...proxied(), argv: ECHO },
      );

      expect(seen).toEqual({
        states: ["connected", "recovering", "connected", "closed"],
        output: [[1, "got one\n"], [2, "got two\n"], [3, "got three\n"], "exited", "closed"],
        statuses: ["accepted", "accepted"],
      });
    },
  );

  itInChromium("loses no byte of a flood while its connection is cut again and again", async () => {
    const page = await openPage({ cut: () => proxy.cut() });
    const megabytes = 8;
    const flood = `const line = "0123456789abcde\\n".repeat(4096); for (let n = 0; n < ${megabytes} * 16; n += 1) process.stdout.write(String(n) + line);`;
    const seen = await page.evaluate(
      async ({ url, token, argv }) => {
        const { execwire, proceed } = globalThis as InPage;
        const backend = await execwire.connect(url, { token });
        const process = await backend.start({ argv });
        const parts: Uint8Array<ArrayBuffer>[] = [];
        let bytes = 0;
        let cuts = 0;
        for await (const event of process) {
          if (event.type === "gap") throw new Error(`lost ${event.firstSeq} to ${event.lastSeq}`);
          if (event.type !== "output") continue;
          parts.push(Uint8Array.from(event.chunk));
          bytes += event.chunk.length;
          if (bytes < (cuts + 1) * 1024 * 1024) continue;
          cuts += 1;
          await proceed("cut");
        }
        const whole = new Uint8Array(await new Blob(parts).arrayBuffer());
        const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", whole));
        await backend.close();
        return { bytes, cuts, digest: Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("") };
      },
      { ...proxied(), argv: [process.execPath, "-e", flood] },
    );

    const expected = Array.from({ length: megabytes * 16 }, (_, n) => n + "0123456789abcde\n".repeat(4096)).join("");
    expect(seen).toEqual({
      bytes: expected.length,
      cuts: megabytes,
      digest: createHash("sha256").update(expected).digest("hex"),
    });
  });

  itInChromium("is refused on a page of another origin, whatever token it shows", async () => {
    const stranger = await open(strangers.origin);
    expect(await tryToConnect(stranger, target())).toBe("FORBIDDEN");
    const friend = await openPage();
    expect(await tryToConnect(friend, target())).toBe("connected");
  });

  itInChromium("is told that its token is wrong", async () => {
    const page = await openPage();
    expect(await tryToConnect(page, { ...target(), token: "another" })).toBe("UNAUTHORIZED");
  });

  itInChromium("leaves no error on a page that nobody has caught", async () => {
    expect(problems).toEqual([]);
  });
});
