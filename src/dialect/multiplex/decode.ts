// Decodes the items of a multiplex batch, each as a chat completion.

import { MultiplexEnvelope } from "../../contract/multiplex.ts";
import { checker } from "../../contract/schema.ts";
import { fieldError, SvcError } from "../../domain/errors.ts";
import { nextTurn } from "../../domain/next-turn.ts";

const check = checker(MultiplexEnvelope);

/**
 * Returns the result of `decode` for the body of each item, with the item's name. Each item is decoded in an event loop
 * turn of its own, because schemas take long. Throws SvcError with a code of the 400 family, naming the field, about
 * the first item that is invalid or repeats a name.
 */
export async function decodeMultiplex<Call>(
  body: unknown,
  decode: (body: unknown) => Call,
): Promise<{ readonly customId: string; readonly call: Call }[]> {
  const { requests } = check(body);
  const first = new Map<string, number>();
  for (const [index, { custom_id: customId }] of requests.entries()) {
    const other = first.get(customId);
    if (other !== undefined) {
      const sentence = `must be unique within the request; 'requests.${other}.custom_id' is the same`;
      throw fieldError("invalid_value", `requests.${index}.custom_id`, sentence);
    }
    first.set(customId, index);
  }
  const calls: { readonly customId: string; readonly call: Call }[] = [];
  for (const [index, { custom_id: customId, body: own }] of requests.entries()) {
    if (index > 0) await nextTurn();
    try {
      calls.push({ customId, call: decode(own) });
    } catch (error) {
      throw error instanceof SvcError ? within(`requests.${index}.body`, error) : error;
    }
  }
  return calls;
}

/** Returns the same error for a field inside `place`. */
function within(place: string, { code, message, details }: SvcError): SvcError {
  const { param } = details;
  return new SvcError(code, `In '${place}': ${message}`, {
    ...details,
    param: param === undefined ? place : `${place}.${param}`,
  });
}
