// How long a closing client waits for the server to end its processes.
import { type Limits, MAX_TIMER_MS } from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";
import type { Link } from "./link.ts";

/**
 * Resolves when waiting for the reply to `session/close` must stop: after closeDeadlineMs without a connection, or after twice
 * the time in which a server finishes every close (the grace, then closeDeadlineMs), so that a slow network does not reach it.
 * A server that has the request ends the processes also after this client has closed.
 */
export function closeTimeout(
  link: Link,
  clock: Clock,
  { graceMs, closeDeadlineMs }: Pick<Limits, "graceMs" | "closeDeadlineMs">,
): Promise<void> {
  return new Promise((resolve) => {
    const resolveAfter = (ms: number) => clock.after(Math.min(ms, MAX_TIMER_MS), resolve, { background: true });
    const cancelTimeout = resolveAfter(2 * (graceMs + closeDeadlineMs));
    let cancelLoss: Cancel | undefined;
    link.state$.subscribe({
      next: (state) => {
        cancelLoss?.();
        cancelLoss = state === "recovering" ? resolveAfter(closeDeadlineMs) : undefined;
      },
      complete: () => {
        cancelTimeout();
        resolve();
      },
    });
  });
}
