// The table of all checks, in the order of the document.
import { auth } from "./auth.mjs";
import { child } from "./child.mjs";
import { envelopes } from "./envelopes.mjs";
import { environment } from "./environment.mjs";
import { fileHandles } from "./file-handles.mjs";
import { wholeFiles } from "./files.mjs";
import { folders } from "./folders.mjs";
import { frames } from "./frames.mjs";
import { http } from "./http.mjs";
import { httpSurface } from "./http-surface.mjs";
import { jsonLimits } from "./json-limits.mjs";
import { output } from "./output.mjs";
import { read } from "./read.mjs";
import { readWaits } from "./read-wait.mjs";
import { refusals } from "./refusals.mjs";
import { resume } from "./resume.mjs";
import { sandbox } from "./sandbox.mjs";
import { session } from "./session.mjs";
import { signalTerminate } from "./signal-terminate.mjs";
import { snapshots } from "./snapshot.mjs";
import { spawn } from "./spawn.mjs";
import { start } from "./start.mjs";
import { stdio } from "./stdio.mjs";
import { walks } from "./walk.mjs";
import { writing } from "./write.mjs";
import { writeDelivery } from "./write-delivery.mjs";

export const checks = [
  ...httpSurface,
  ...frames,
  ...jsonLimits,
  ...stdio,
  ...envelopes,
  ...session,
  ...resume,
  ...start,
  ...spawn,
  ...child,
  ...output,
  ...read,
  ...readWaits,
  ...writing,
  ...writeDelivery,
  ...signalTerminate,
  ...wholeFiles,
  ...folders,
  ...walks,
  ...fileHandles,
  ...environment,
  ...refusals,
  ...sandbox,
  ...snapshots,
  ...http,
  ...auth,
];
