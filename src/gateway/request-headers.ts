// What a request to another server says of whose it is.

import type { GenerateRequest } from "../domain/generate.ts";
import type { Replica } from "./replica.ts";

/** The correlation id in the id of a job. */
export const correlationOf = (id: string): string => id.split(" ")[0] ?? "";

/** The request's id in the server's log; among svc, whose request it is and until when it is of use. */
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
