// The outcome of one examination.

/** `ok`; `limited`: something optional is missing or small; `broken`: a feature does not work here. */
export type FindingStatus = "ok" | "limited" | "broken";

/** What was found, and what would mend it. */
export interface Finding {
  readonly name: string;
  readonly status: FindingStatus;
  readonly found: string;
  readonly mend?: string;
}
