// The port of a remote process: each call is a request, with the same answers and errors as a local one.
import {
  type MethodName,
  type Methods,
  type ProcessAddress,
  present,
  type SignalName,
  type TerminalSize,
} from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import type { ProcessPort, ReadCallOptions, SignalOptions, TerminateOptions, WriteOptions } from "../process/port.ts";
import type { Requests } from "./requests.ts";

/** Commands to a process at the other end of a link. Calls made while it recovers wait for it. */
export class RemotePort implements ProcessPort {
  readonly #requests: Requests;
  readonly #address: ProcessAddress;

  constructor(requests: Requests, { processId, incarnation }: ProcessAddress) {
    this.#requests = requests;
    this.#address = { processId, incarnation };
  }

  async read({ signal, ...options }: ReadCallOptions = {}) {
    signal?.throwIfAborted();
    const answer = this.#call("process/read", options);
    if (!signal) return answer;
    // The server goes on to wait, for nobody: its answer is thrown away.
    return new Promise<Awaited<typeof answer>>((resolve, reject) => {
      const abort = () => reject(signal.reason);
      signal.addEventListener("abort", abort, { once: true });
      answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
    });
  }

  async write(chunk: Uint8Array, { writeId }: WriteOptions = {}) {
    return (await this.#call("process/write", present({ writeId, chunk }))).status;
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
    return (await this.#call("process/holders", {}).catch(explain("holders"))).holders;
  }

  async activity() {
    return (await this.#call("process/activity", {}).catch(explain("activity"))).activity;
  }

  #call<M extends MethodName>(
    method: M,
    params: Omit<Methods[M]["params"], keyof ProcessAddress>,
  ): Promise<Methods[M]["result"]> {
    return this.#requests.call(method, { ...this.#address, ...params } as Methods[M]["params"]);
  }
}

/** For methods that were added to version 1: a server that does not know them is older than this client. */
function explain(what: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ExecwireError) || error.code !== "INVALID_PARAMS" || error.data.field !== "method")
      throw error;
    throw new ExecwireError("UNSUPPORTED", `${what} is not to be had: ${error.message}`, {
      data: { what },
      cause: error,
    });
  };
}
