// Sets the headers that tell an upstream whose request it receives.

import type { GenerateRequest } from "../domain/generate.ts";
import type { Replica } from "./replica.ts";

/** Returns the correlation id that a job's id contains. */
export const correlationOf = (id: string): string => id.split(" ")[0] ?? "";

/**
 * Returns the headers: the request's id for the server's log and, for another svc, the client and the milliseconds left
 * until the deadline.
 */
export function headersOf(
  { kind }: Replica,
  { id, client, deadline }: Pick<GenerateRequest, "id" | "client" | "deadline">,
): Record<string, string> {
  const correlation = correlationOf(id);
  if (kind !== "svc") return { "X-Request-ID": correlation };
  const name = client?.replaceAll(" ", "_");
  return {
    "X-Request-ID": correlation,
    ...(name !== undefined && { "X-Svc-Client": name }),
    ...(deadline !== undefined && { "X-Svc-Deadline-Ms": String(Math.max(1, Math.round(deadline - Date.now()))) }),
  };
}
