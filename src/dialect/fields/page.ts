// Decodes which page of a list a client wants.

import { received } from "../../contract/schema.ts";
import { invalidValue } from "../../domain/errors.ts";
import type { PageRequest } from "../../domain/page-request.ts";

export interface PageLimits {
  /** Items on a page without `limit`. */
  readonly usual: number;
  readonly most: number;
}

export const usualPage: PageLimits = { usual: 20, most: 100 };
export const PAGE_ORDERS = ["asc", "desc"] as const;

/** Reads limit, order and after. Throws SvcError `invalid_value` when limit or order is invalid. */
export function decodePage(query: URLSearchParams, limits: PageLimits = usualPage): PageRequest {
  const limit = decodePageLimit(query, limits);
  const wanted = query.get("order") ?? "desc";
  const order = PAGE_ORDERS.find((known) => known === wanted);
  if (!order) {
    throw invalidValue("order", `be one of ${PAGE_ORDERS.join(", ")}`, received(wanted));
  }
  return { limit, order, after: query.get("after") ?? undefined };
}

/** Returns the number of items on a page. Throws SvcError `invalid_value` when the limit is invalid. */
export function decodePageLimit(query: URLSearchParams, { usual, most }: PageLimits): number {
  const given = query.get("limit");
  const limit = given === null ? usual : /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
  if (limit >= 1 && limit <= most) return limit;
  throw invalidValue("limit", `be an integer from 1 to ${most}`, received(Number.isNaN(limit) ? given : limit));
}

/** Returns a page of items that have ids, in the list layout of OpenAI's API. */
export const listOf = <Item extends { readonly id: string }>(data: readonly Item[], hasMore: boolean) => ({
  object: "list" as const,
  data: [...data],
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more: hasMore,
});
