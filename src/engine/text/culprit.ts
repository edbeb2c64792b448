// Which request ended an engine that a grammar held up.

import type { PendingJob } from "../process/jobs.ts";
import type { TextEvent, TextJob } from "./protocol.ts";

type Pending = PendingJob<TextJob, TextEvent>;

/** With which an engine ends that the making of a request's grammar held up: `ffi/llama/grammar-watch.hpp`. */
const PROMPT_HELD_UP = 71;

/**
 * The request whose grammar ended the engine before it was accepted, as the exit code says. Grammars are made in the order in
 * which requests come; what waits for its images or sound has that behind it, as a rule.
 */
export function culprit(code: number | null, pending: Iterable<Pending>): Pending | undefined {
  if (code !== PROMPT_HELD_UP) return undefined;
  const suspects = [...pending].filter(waitsForGrammar);
  return suspects.find(({ job }) => !hasMedia(job)) ?? suspects[0];
}

/** An engine has it and has not accepted it yet, and makes a grammar for it. */
const waitsForGrammar = ({ progress, accepted, job }: Pending): boolean =>
  progress === "sent" && !accepted && isConstrained(job);

function isConstrained(job: TextJob | undefined): boolean {
  if (!job || !("request" in job)) return false;
  const { constraint, tools } = job.request;
  return constraint !== undefined || tools.length > 0;
}

const hasMedia = (job: TextJob | undefined): boolean =>
  job !== undefined && "request" in job && (job.request.media?.length ?? 0) > 0;
