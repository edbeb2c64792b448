// Token ids in requests.

import { t } from "./schema.ts";

/** The engine stores tokens as signed 32-bit integers, and checks itself which ids the model has. */
export const TokenId = t.Integer({ minimum: 0, maximum: 2_147_483_647 });

/** A text as token ids. */
export const TokenIds = t.Array(TokenId, { minItems: 1 });
