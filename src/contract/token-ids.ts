// Ids of tokens, as requests give them.

import { t } from "./schema.ts";

/** The engine counts tokens in 32 bits with a sign; which of them are the model's it knows itself. */
export const TokenId = t.Integer({ minimum: 0, maximum: 2_147_483_647 });

/** A text as its tokens. */
export const TokenIds = t.Array(TokenId, { minItems: 1 });
