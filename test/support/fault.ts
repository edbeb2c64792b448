// Errors as clients receive them.

import type { ErrorObject } from "../../src/contract/errors.ts";
import type { Static } from "../../src/contract/schema.ts";

/** Returns the error in a response. */
export async function errorOf(response: Pick<Response, "json">): Promise<Static<typeof ErrorObject>> {
  return ((await response.json()) as { readonly error: Static<typeof ErrorObject> }).error;
}

/** Returns the status of a response, and the code and field of its error. */
export async function fault(response: Response): Promise<[status: number, code: string | null, param: string | null]> {
  const { code, param } = await errorOf(response);
  return [response.status, code, param];
}
