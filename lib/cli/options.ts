// Options that several commands share, and the parsers of their values.
import { isAbsolute, resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type KillScope, MAX_TIMER_MS, type SignalName } from "../../protocol/index.ts";
import { hostSignalName, hostSignalNumber } from "../spawn/signals.ts";
import { ownDirectory } from "../spawn/start-state.ts";

/** Options that select a server. */
export interface ServerOptions {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly recovery?: number;
}

/** Adds the options that select a server. */
export function addServerOptions(command: Command): Command {
  return command
    .option(
      "--url <url>",
      "server to use: ws://HOST:PORT, wss://HOST, unix:PATH, ssh://HOST (default: $EXECWIRE_URL, then the local server)",
      parseServerUrl,
    )
    .option("--token-file <file>", "file with the server's token (default: $EXECWIRE_TOKEN, then $EXECWIRE_TOKEN_FILE)")
    .option("--recovery <seconds>", "how long to try to reconnect when the connection is lost", parseSeconds, 45);
}

/** The option that selects a spawner. */
export function spawnerOption(): Option {
  return new Option("--spawner <name>", "how to spawn (default: auto)").choices(["auto", "posix", "portable"]);
}

/** Adds the option that selects the scope of a termination or signal. */
export function addScopeOption(command: Command): Command {
  const scopes: KillScope[] = ["process", "group", "session", "tree"];
  return command.addOption(new Option("--scope <scope>", "which processes to signal (default: group)").choices(scopes));
}

/** Checks the address of a server. The message suggests what was probably meant. */
export function parseServerUrl(text: string): string {
  if (/^(wss?:\/\/|unix:|ssh:\/\/)./.test(text)) return text;
  const rest = text.replace(/^\w+:\/\//, "");
  const meant = /^[./~]/.test(text)
    ? `unix:${text}`
    : `${/^https:/i.test(text) ? "wss" : "ws"}://${rest || "HOST:PORT"}`;
  throw new InvalidArgumentError(`It must begin with ws://, wss://, unix: or ssh://. Did you mean ${meant}?`);
}

/** Timers count milliseconds in 31 bits. */
const MAX_SECONDS = Math.floor(MAX_TIMER_MS / 1000);

/** Parses a duration in seconds. */
export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== "" && seconds >= 0 && seconds <= MAX_SECONDS) return seconds;
  throw new InvalidArgumentError(
    `It must be a number of seconds from 0 to ${MAX_SECONDS} (24 days), such as 10 or 0.5.`,
  );
}

/** `{ [name]: milliseconds }`, or an empty object without a duration. */
export function milliseconds<K extends string>(name: K, seconds: number | undefined): { [N in K]?: number } {
  return (seconds === undefined ? {} : { [name]: Math.ceil(seconds * 1000) }) as { [N in K]?: number };
}

/** The directory from ours. Throws if that is needed and was removed. */
export function absoluteDirectory(directory = "."): string {
  if (isAbsolute(directory)) return resolve(directory);
  const own = ownDirectory();
  if (own === undefined) throw new Error("the working directory was removed; name another one with --cwd");
  return resolve(own, directory);
}

/** Parses the seq of an event. */
export function parseSeq(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("It must be an event number, such as 0 or 42.");
  return Number(text);
}

/** Collects `NAME=VALUE` pairs of an option that may be repeated. */
export function collectPairs(text: string, pairs: Record<string, string>): Record<string, string> {
  const equals = text.indexOf("=");
  if (equals < 1) throw new InvalidArgumentError("It must have the form NAME=VALUE.");
  return { ...pairs, [text.slice(0, equals)]: text.slice(equals + 1) };
}

/** Collects the values of an option that may be repeated. */
export function collect(text: string, values: readonly string[] = []): string[] {
  return [...values, text];
}

/** Parses a signal: INT, SIGINT, int or 2. */
export function parseSignal(text: string): SignalName {
  const upper = text.toUpperCase();
  const name = /^\d+$/.test(text) ? hostSignalName(Number(text)) : upper.startsWith("SIG") ? upper : `SIG${upper}`;
  if (hostSignalNumber(name) === undefined)
    throw new InvalidArgumentError("It must be a signal, such as INT, SIGINT or 2.");
  return name as SignalName;
}
