// The port of a remote process: each call is a request, with the same results and errors as on a local process.

import {
  type Limits,
  type MethodName,
  type Methods,
  type ProcessAddress,
  present,
  type SignalName,
  type TerminalSize,
} from "../../protocol/index.ts";
import { abortable } from "../abort.ts";
import { ExecwireError } from "../errors.ts";
import type { ProcessPort, ReadCallOptions, SignalOptions, TerminateOptions, WriteOptions } from "../process/port.ts";
import { UnansweredWrites } from "../process/unanswered-writes.ts";
import type { Requests } from "./requests.ts";

/** Sends commands to a process over a link. Calls made while the link recovers wait for it. */
export class RemotePort implements ProcessPort {
  readonly #requests: Requests;
  readonly #address: ProcessAddress;
  readonly #writes: UnansweredWrites;

  constructor(requests: Requests, { processId, incarnation }: ProcessAddress, limits: Limits) {
    this.#requests = requests;
    this.#address = { processId, incarnation };
    this.#writes = new UnansweredWrites(limits);
  }

  async read({ signal, ...options }: ReadCallOptions = {}) {
    signal?.throwIfAborted();
    // The wire has no cancellation: the server goes on waiting, and its reply is dropped.
    return abortable(this.#call("process/read", options), signal);
  }

  async write(chunk: Uint8Array, { writeId }: WriteOptions = {}) {
    const params = present({ writeId, chunk });
    return (await this.#writes.make(chunk.length, () => this.#call("process/write", params))).status;
  }

  async closeStdin() {
    return (await this.#call("process/closeStdin", {})).status;
  }

  async signal(signal: SignalName, options: SignalOptions = {}) {
    await this.#call("process/signal", { signal, ...options });
  }

  async resize(size: TerminalSize) {
    await this.#call("process/resize", { size });
  }

  terminate(options: TerminateOptions = {}) {
    return this.#call("process/terminate", options);
  }

  async holders() {
    return (await this.#call("process/holders", {}).catch(unsupportedIfUnknown("holders"))).holders;
  }

  async activity() {
    return (await this.#call("process/activity", {}).catch(unsupportedIfUnknown("activity"))).activity;
  }

  #call<M extends MethodName>(
    method: M,
    params: Omit<Methods[M]["params"], keyof ProcessAddress>,
  ): Promise<Methods[M]["result"]> {
    return this.#requests.call(method, { ...this.#address, ...params } as Methods[M]["params"]);
  }
}

/** For methods added later to version 1: an older server refuses them as unknown, which becomes UNSUPPORTED. */
function unsupportedIfUnknown(what: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ExecwireError) || error.code !== "INVALID_PARAMS" || error.data.field !== "method")
      throw error;
    throw new ExecwireError("UNSUPPORTED", `${what} is not supported by this server: ${error.message}`, {
      data: { what },
      cause: error,
    });
  };
}
