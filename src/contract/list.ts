// Lists that clients read page by page.

import { nullable, t, type TSchema } from "./schema.ts";

/** A page of a list: its items, the ids of the first and last item, and whether more follow. */
export const pageOf = <Item extends TSchema>(item: Item) =>
  t.Object({
    object: t.Literal("list"),
    data: t.Array(item),
    first_id: nullable(t.String()),
    last_id: nullable(t.String()),
    has_more: t.Boolean(),
  });
