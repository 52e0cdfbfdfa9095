// Checks what is said on the wire about managed networks.
import { checkFlag, checkInteger, checkOneOf, checkText, ifPresent, isRecord, type Problem } from "./check-value.ts";

const MAX = Number.MAX_SAFE_INTEGER;
const MAX_REASON_CHARS = 1024;

/** The problem of an answer of a controller. */
export function checkNetworkAnswer(answer: unknown): Problem | undefined {
  if (isRecord(answer)) return checkText("answer.deny", answer.deny, MAX_REASON_CHARS);
  return checkOneOf("answer", answer, ["allow", "deny"]);
}

/** The problem of a request. The protocol is free text: later versions may add some. */
export function checkNetworkRequest(field: string, request: unknown): Problem | undefined {
  if (!isRecord(request)) return { field, message: "must be a map" };
  return (
    checkText(`${field}.processId`, request.processId) ??
    checkText(`${field}.protocol`, request.protocol) ??
    checkText(`${field}.host`, request.host) ??
    checkInteger(`${field}.port`, request.port, 0, 65_535) ??
    ifPresent(request.method, (method) => checkText(`${field}.method`, method))
  );
}

/** The problem of a decision. */
export function checkNetworkDecision(decision: unknown): Problem | undefined {
  const wrong = checkNetworkRequest("decision", decision);
  if (wrong || !isRecord(decision)) return wrong;
  return (
    checkInteger("decision.time", decision.time, 0, MAX) ??
    checkOneOf("decision.decision", decision.decision, ["allow", "deny"]) ??
    checkText("decision.source", decision.source) ??
    checkText("decision.reason", decision.reason)
  );
}

/** The problem of `network` in the params of a start. */
export function checkNetworkWishes(wishes: unknown): Problem | undefined {
  if (!isRecord(wishes)) return { field: "network", message: "must be a map" };
  return (
    ifPresent(wishes.requests, (flag) => checkFlag("network.requests", flag)) ??
    ifPresent(wishes.decisions, (flag) => checkFlag("network.decisions", flag))
  );
}
