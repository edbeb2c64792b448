// Contexts with which nothing could be served are refused before a model is loaded.

import { describe, expect, test } from "bun:test";
import { checkContext, contextWarning } from "../../src/cli/context-check.ts";
import { chooseContext, type ContextNeeds } from "../../src/model/context.ts";

const GIB = 2 ** 30;
/** 128 KiB per token. */
const model: ContextNeeds["model"] = {
  trainedContext: 32_768,
  kvHeads: Array.from({ length: 32 }, () => 8),
  keyLength: 128,
  valueLength: 128,
  slidingWindow: 0,
  vocabulary: 1000,
  tensorBytes: GIB,
};

/** Chooses and checks the context of a machine with 16 GiB, of which 8 are free. */
function choose(requested: number | undefined, changes: Partial<ContextNeeds> = {}) {
  const sizes = { parallel: 4, canPage: false, availableBytes: 8 * GIB, ...(requested !== undefined && { requested }) };
  const needs: ContextNeeds = { model, kvType: "f16", kvMode: "unified", ...sizes, ...changes };
  const choice = chooseContext(needs);
  checkContext(
    choice,
    { ...(requested !== undefined && { ctx: requested }), parallel: needs.parallel },
    16 * GIB,
    needs.model,
  );
  return choice;
}

describe("fixed shares", () => {
  test("of fewer than 64 tokens are refused with both options", () => {
    const tight = () => choose(256, { kvMode: "streams", parallel: 256 });
    expect(tight).toThrow("--parallel 256 leaves each request 1 of the 256 tokens of --ctx");
    expect(() => choose(undefined, { kvMode: "streams", parallel: 256, availableBytes: 0 })).toThrow(
      "of the 512 tokens",
    );
    expect(choose(16_384, { kvMode: "streams", parallel: 256 }).maxModelLen).toBe(64);
  });

  test("do not limit a shared cache", () => {
    expect(choose(256, { parallel: 256 }).maxModelLen).toBe(256);
  });
});

describe("a KV cache", () => {
  test("that may not fit is announced before loading, with the numbers", () => {
    const warning = contextWarning(choose(131_072), 131_072);
    expect(warning).toMatch(/^--ctx 131072 needs 16\.0 GiB where 6\.\d GiB are free beside the weights: loading may/);
    expect(contextWarning(choose(32_768))).toBeUndefined();
    expect(contextWarning(choose(40_000))).toBeUndefined();
  });

  test("of more than twice the memory of the machine is refused, unless a sliding window makes it smaller", () => {
    expect(() => choose(524_288)).toThrow(
      "--ctx 524288 needs 64.0 GiB for the KV cache, but this machine has 16.0 GiB",
    );
    expect(choose(524_288, { model: { ...model, slidingWindow: 1024 } }).context).toBe(524_288);
  });
});
