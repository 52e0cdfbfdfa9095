// `execwire doctor`: says what works on this machine, and what would mend the rest.
import type { Command } from "commander";
import { examine } from "../doctor/examinations.ts";
import type { Finding } from "../doctor/finding.ts";
import { write } from "../output.ts";
import { printable, printableJson } from "../table.ts";

/** Defines the options of `doctor`. */
export function define(command: Command): void {
  command
    .option("--json", "print the findings as one JSON array")
    .addHelpText("after", HELP)
    .action(async ({ json }: { readonly json?: boolean }) => {
      const findings = await examine();
      await write("stdout", json ? `${printableJson(findings, 2)}\n` : textOf(findings));
      process.exitCode = findings.some(({ status }) => status === "broken") ? 1 : 0;
    });
}

function textOf(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ name, status, found, mend }) => [
    `${status.padEnd(8)} ${name.padEnd(18)} ${printable(found)}`,
    ...(mend === undefined || status === "ok" ? [] : [`${" ".repeat(9)}${"to mend it".padEnd(18)} ${printable(mend)}`]),
  ]);
  return `${lines.join("\n")}\n`;
}

const HELP = `
It tries what the other commands need: Node, posix_spawn through koffi, a terminal, user namespaces, a
sandbox with bubblewrap, cgroups, the limits of this shell, and the directory where the commands find
the local server. Each line begins with:
  ok       works
  limited  works, but something optional is missing or small
  broken   does not work on this machine

Exit code: 0, or 1 if something is broken.

Examples:
  execwire doctor
  execwire doctor --json | jq -r '.[] | select(.status == "broken").mend'`;
