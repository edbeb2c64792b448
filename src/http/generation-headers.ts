// Decodes headers of every generation request.

import { fieldError, invalidValue } from "../domain/errors.ts";
import { isRequestId } from "../domain/ids.ts";

/** One day; a longer deadline is a mistake. */
export const LONGEST_DEADLINE_MS = 86_400_000;

/** Throws SvcError `invalid_value` when the client's name is invalid. */
export function checkClient(headers: Headers): void {
  const param = "X-Svc-Client";
  const name = headers.get(param);
  if (name === null || isRequestId(name)) return;
  const sentence = `must be 1 to 128 visible ASCII characters; it has ${name.length} characters`;
  throw fieldError("invalid_value", param, sentence);
}

/** Returns whether another svc forwarded the request: this one does not forward it again. */
export const isForwarded = (headers: Headers): boolean =>
  (headers.get("via") ?? "").split(",").some((hop) => /^\s*\S+\s+svc\s*$/.test(hop));

/** Returns the milliseconds from a request's arrival to its deadline, if any. Throws SvcError `invalid_value`. */
export function decodeDeadline(headers: Headers): number | undefined {
  const param = "X-Svc-Deadline-Ms";
  const given = headers.get(param);
  if (given === null) return undefined;
  const ms = /^\d{1,16}$/.test(given) ? Number(given) : undefined;
  if (ms !== undefined && ms >= 1 && ms <= LONGEST_DEADLINE_MS) return ms;
  const got = ms ?? `a string of length ${given.length}`;
  throw invalidValue(param, `be a whole number of milliseconds from 1 to ${LONGEST_DEADLINE_MS}`, got);
}
