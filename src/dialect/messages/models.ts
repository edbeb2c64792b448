// Lists the models that answer messages, in the form of the Messages API: one model, or a page of them.

import type { MessagesModel, MessagesModelList } from "../../contract/model.ts";
import { SvcError } from "../../domain/errors.ts";
import type { ListedModel } from "../../domain/model.ts";
import { decodePageLimit, type PageLimits } from "../fields/page.ts";

/** Models on a page. */
export const MODEL_PAGE: PageLimits = { usual: 20, most: 1000 };

interface ModelPageQuery {
  readonly limit: number;
  /** Ids of the model before the first and the model after the last of the page. */
  readonly after: string | undefined;
  readonly before: string | undefined;
}

/** Reads limit, after_id and before_id. Throws SvcError `invalid_value` when the limit is invalid. */
export const decodeModelPage = (query: URLSearchParams): ModelPageQuery => ({
  limit: decodePageLimit(query, MODEL_PAGE),
  after: query.get("after_id") ?? undefined,
  before: query.get("before_id") ?? undefined,
});

/** Returns the models that clients of this API can use, in the same order. */
export const encodeMessagesModels = (models: readonly ListedModel[]): MessagesModel[] =>
  models
    .filter(({ capabilities }) => capabilities.includes("chat") || capabilities.includes("completion"))
    .map(({ id, name, created, contextLength }) => ({
      id,
      type: "model",
      display_name: name ?? id,
      created_at: new Date(created * 1000).toISOString(),
      max_input_tokens: contextLength ?? null,
      max_tokens: null,
      lifecycle: "active",
      capabilities: null,
      line: null,
      deprecated_at: null,
      retires_at: null,
    }));

/** Returns a page; with `before` alone, the last models before it. Throws SvcError `not_found` about an unknown id. */
export function encodeModelPage(
  models: readonly MessagesModel[],
  { limit, after, before }: ModelPageQuery,
): MessagesModelList {
  const start = after === undefined ? 0 : placeOf(models, after, "after_id") + 1;
  const end = before === undefined ? models.length : placeOf(models, before, "before_id");
  const wanted = models.slice(start, end);
  const data = before === undefined ? wanted.slice(0, limit) : wanted.slice(-limit);
  return {
    data,
    has_more: data.length < wanted.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

function placeOf(models: readonly MessagesModel[], id: string, param: string): number {
  const place = models.findIndex((model) => model.id === id);
  if (place === -1) throw new SvcError("not_found", `'${param}' names no model that is listed.`, { param });
  return place;
}
