import { expect, test } from "bun:test";
import { promptProgress } from "../../src/page/logic/format.ts";

test("a prompt in progress shows its percentage, and a finished one its length", () => {
  const shown = (prompt_tokens: number, processed_prompt_tokens?: number) =>
    promptProgress({ prompt_tokens, ...(processed_prompt_tokens !== undefined && { processed_prompt_tokens }) });
  expect([shown(4096, 1024), shown(4096, 4096), shown(4096), shown(0)]).toEqual([
    "1,024 of 4,096",
    "4,096",
    "4,096",
    "–",
  ]);
});
