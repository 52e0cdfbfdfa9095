// A terminal in canonical mode accepts 4,095 bytes of a line; a longer line is refused before any of it is typed.
import { expect } from "@jest/globals";
import { outcome, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { describeBackends } from "./backends.ts";

const REFUSED = { code: "LIMIT_EXCEEDED", data: { limit: "ttyLine" } };
const x = (count: number) => "x".repeat(count);

describeBackends("a line typed into a terminal", ({ needs, start }) => {
  /** A program that reads so many lines and prints their lengths. */
  const measure = async (lines: number) => {
    const script = "echo ready; i=0; while [ $i -lt $1 ]; do head -n 1 | wc -c; i=$((i + 1)); done";
    const process = await start({ argv: sh(script, String(lines)), tty: { echo: false } });
    await printed(process, "ready");
    return process;
  };
  const lengths = async (process: Awaited<ReturnType<typeof start>>) =>
    (await outcome(process)).pty.split("\r\n").slice(1, -1).map(Number);

  needs("refusesLongLines").each(["\n", "\r"])(
    "arrives whole with 4,095 bytes before its line end %j",
    async (lineEnd) => {
      const process = await measure(1);
      expect(await process.write(x(4095) + lineEnd)).toBe("accepted");
      expect(await lengths(process)).toEqual([4096]);
    },
  );

  needs("refusesLongLines").each(["\n", "\r", ""])(
    "is refused with 4,096 bytes before %j, and nothing of it arrives",
    async (lineEnd) => {
      const process = await measure(1);
      expect(await refusal(process.write(x(4096) + lineEnd))).toEqual(REFUSED);
      await process.write("next\n");
      expect(await lengths(process)).toEqual([5]);
    },
  );

  needs("refusesLongLines")("is counted from the last line end, over several writes", async () => {
    const process = await measure(2);
    expect(await process.write(`one\n${x(3000)}`)).toBe("accepted");
    expect(await refusal(process.write(x(1096)))).toEqual(REFUSED);
    expect(await process.write(x(1095))).toBe("accepted");
    await process.write("\n");
    expect(await lengths(process)).toEqual([4, 4096]);
  });

  needs("refusesLongLines")("can be sent again under a write id that was refused", async () => {
    const process = await measure(1);
    expect(await refusal(process.write(`${x(5000)}\n`, { writeId: "w" }))).toEqual(REFUSED);
    expect(await refusal(process.write(`${x(5000)}\n`, { writeId: "w" }))).toEqual(REFUSED);
    expect(await process.write("shorter\n", { writeId: "w" })).toBe("accepted");
    expect(await lengths(process)).toEqual([8]);
  });

  needs("refusesLongLines")("is counted without erased and killed characters", async () => {
    const process = await measure(2);
    expect(await process.write(`${x(4000)}${"\x7f".repeat(100)}`)).toBe("accepted");
    expect(await process.write(`${x(195)}\n`)).toBe("accepted");
    expect(await process.write(`${x(4000)}\x15`)).toBe("accepted");
    expect(await process.write(`${x(4095)}\n`)).toBe("accepted");
    expect(await lengths(process)).toEqual([4096, 4096]);
  });

  needs("refusesLongLines")("has no limit in raw mode, also when the program has set it", async () => {
    const script = "stty raw -echo; echo ready; head -c 10000 | wc -c";
    const process = await start({ argv: sh(script), tty: true, env: { PATH: "/usr/bin:/bin" } });
    await printed(process, "ready");
    expect(await process.write(x(6000))).toBe("accepted");
    expect(await process.write(x(4000))).toBe("accepted");
    expect((await outcome(process)).pty.trim()).toMatch(/ready\s+10000$/);
  });
});
