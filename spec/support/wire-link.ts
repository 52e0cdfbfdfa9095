// Waits for states of a client's link.
import { filter, firstValueFrom } from "rxjs";
import type { LinkState } from "../../lib/client/link.ts";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";

/** Resolves when the link of a client is in that state. */
export async function becomes({ link }: RemoteBackend, state: LinkState): Promise<void> {
  if (link.state === state) return;
  await firstValueFrom(link.state$.pipe(filter((now) => now === state)));
}

/** Resolves when the client has lost its connection and reconnected. */
export async function comesBack(client: RemoteBackend): Promise<void> {
  await becomes(client, "recovering");
  await becomes(client, "connected");
}
