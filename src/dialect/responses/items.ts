// Items as they are stored: the input of a request, each item with an id, and the items that ids refer to.

import type { InputItem, ResponsesRequest } from "../../contract/responses.ts";
import { fieldError } from "../../domain/errors.ts";
import { newItemId, withOwnIds } from "../../domain/ids.ts";
import type { PageRequest } from "../../domain/page-request.ts";
import { listOf } from "../fields/page.ts";
import { decodeInput, typeOf, type FindItem } from "./input.ts";

/** An item as it is listed and stored. */
export type ListedItem = InputItem & { readonly id: string; readonly type: string };

/** Returns a request's input as items with all that clients expect of listed ones: ids, states, content as parts. */
export function inputItems(input: ResponsesRequest["input"]): readonly ListedItem[] {
  if (input == null) return [];
  const items: readonly InputItem[] = typeof input === "string" ? [{ role: "user", content: input }] : input;
  const listed = items.map((item) => {
    const type = typeOf(item) ?? "message";
    const id = item.id ?? newItemId(type === "message" ? "msg" : "item");
    const whole = { status: "completed", ...item, id, type };
    return type === "message" ? { ...whole, role: item.role ?? "user", content: partsOf(item) } : whole;
  });
  return withOwnIds(listed);
}

/**
 * Returns items as a conversation stores them, with references replaced by their items. Throws SvcError like
 * `decodeInput`, about the field `items`.
 */
export function keptItems(input: ResponsesRequest["input"], findItem: FindItem): readonly ListedItem[] {
  decodeInput(input, findItem, "items");
  return withReferred(inputItems(input), findItem);
}

/** Replaces references in listed items by what they refer to, each item once, as in a prompt. */
export function withReferred(items: readonly ListedItem[], findItem: FindItem): readonly ListedItem[] {
  const seen = new Set<string>();
  return items.flatMap((item) => {
    if (item.type !== "item_reference") return [item];
    if (seen.has(item.id)) return [];
    seen.add(item.id);
    return referred(item, findItem);
  });
}

function referred({ id }: ListedItem, findItem: FindItem): readonly ListedItem[] {
  const item = findItem(id);
  return item ? inputItems([item]) : [];
}

/** Returns the content as parts. An assistant's text is output text, also in a request. */
function partsOf({ role, content }: InputItem): unknown {
  const parts = typeof content === "string" ? [{ type: "input_text", text: content }] : content;
  if (role !== "assistant" || !Array.isArray(parts)) return parts;
  return parts.map((part: { readonly type: string }) =>
    part.type === "input_text" || part.type === "output_text"
      ? { annotations: [], logprobs: [], ...part, type: "output_text" }
      : part,
  );
}

/** Returns one page of items, in the API's list layout. Throws SvcError `not_found` when no item has the id `after`. */
export function listItems<Item extends { readonly id: string }>(
  items: readonly Item[],
  { limit, order, after }: PageRequest,
) {
  const ordered = order === "asc" ? items : items.toReversed();
  // An item may occur twice: continue after its last occurrence, or a client would get the same page forever.
  const start = after === undefined ? 0 : ordered.findLastIndex(({ id }) => id === after) + 1;
  if (after !== undefined && start === 0) {
    throw fieldError("not_found", "after", "names no item of this list");
  }
  return listOf(ordered.slice(start, start + limit), start + limit < ordered.length);
}
