// The body of a multiplex batch → its items, each decoded as the chat completion that it is.

import { MultiplexEnvelope } from "../../contract/multiplex.ts";
import { checker } from "../../contract/schema.ts";
import { fieldError, SvcError } from "../../domain/errors.ts";
import { nextTurn } from "../../domain/next-turn.ts";

const check = checker(MultiplexEnvelope);

/**
 * What `decode` makes of the body of each item, with the item's own name. Each is decoded in a turn of the event loop of its
 * own: schemas take long. Throws SvcError with a code of the 400 family, naming the field, about the first item that is not
 * valid or has the name of another.
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

/** The same refusal, of a field inside `place`. */
function within(place: string, { code, message, details }: SvcError): SvcError {
  const { param } = details;
  return new SvcError(code, `In '${place}': ${message}`, {
    ...details,
    param: param === undefined ? place : `${place}.${param}`,
  });
}
