// A server behind a program such as ssh, which prints text before the first frame, and has an end of its own.
import { expect, it } from "@jest/globals";
import { firstValueFrom, reduce } from "rxjs";
import { connect } from "../../lib/connect.ts";
import { text } from "../../lib/process/text.ts";
import { cliArgv } from "../support/system-run.ts";

const shell = (script: string) => ({ command: ["/bin/sh", "-c", script, ...cliArgv("serve", "--listen", "stdio")] });
const errorOf = (script: string) =>
  connect(shell(script), { limits: { handshakeMs: 2_000 } }).then(
    () => "connected",
    (error) => `${error.code} ${error.message}`,
  );

it.each(["echo 'Welcome to host'", "printf '\\033[31m\\n\\n'", ":"])(
  "skips text before the first frame: %s",
  async (greeting) => {
    const backend = await connect(shell(`${greeting}; exec "$0" "$@" 2>/dev/null`));
    const process = await backend.start({ argv: ["echo", "hi"], envPolicy: { inherit: "core" } });
    expect(await firstValueFrom(text(process).pipe(reduce((all, piece) => all + piece)))).toBe("hi\n");
    await backend.close();
  },
);

it("names the exit of a program that is no server, and what it printed", async () => {
  expect(await errorOf("echo 'no such host'; cat >/dev/null; exit 255")).toMatch(
    /^CONNECTION_LOST .*\/bin\/sh exited with 255 \(with ssh: .*\); it printed: no such host$/,
  );
  expect(await errorOf("exit 127")).toMatch(/^CONNECTION_LOST .* exited with 127$/);
  expect(await errorOf("kill -9 $$")).toMatch(/^CONNECTION_LOST .* was ended by SIGKILL$/);
}, 30_000);

it("gives up text without end", async () => {
  expect(await errorOf("yes hello 2>/dev/null")).toMatch(
    /^PROTOCOL_VIOLATION more than 65536 bytes of text .*printed: hello; hello/,
  );
});
