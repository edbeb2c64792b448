// Token ids in requests must be within the range of the engine's integers, on every route that takes them.

import { expect, test } from "bun:test";
import { serve } from "../http/harness.ts";
import { errorOf } from "../support/fault.ts";

test.each([
  ["/v1/completions", "prompt"],
  ["/v1/embeddings", "input"],
  ["/v1/detokenize", "tokens"],
])("%s: an id outside the engine's integers is refused with the valid range", async (path, field) => {
  const response = await serve().post(path, { [field]: [1, 4294967301] });
  expect(response.status).toBe(400);
  expect(await errorOf(response)).toMatchObject({
    code: "invalid_value",
    param: `${field}.1`,
    message: `'${field}.1' must be an integer from 0 to 2147483647; got 4294967301.`,
  });
});
