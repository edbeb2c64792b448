import { describe, expect, test } from "bun:test";
import { chooseContext, kvBytesPerToken, type ContextNeeds } from "../../src/model/context.ts";

const GIB = 2 ** 30;
/** Dimensions of a typical model with 8 B parameters. */
const model: ContextNeeds["model"] = {
  trainedContext: 131_072,
  kvHeads: Array.from({ length: 32 }, () => 8),
  keyLength: 128,
  valueLength: 128,
  slidingWindow: 0,
  vocabulary: 128_000,
  tensorBytes: 5 * GIB,
};
const needs: ContextNeeds = {
  model,
  kvType: "f16",
  kvMode: "unified",
  parallel: 4,
  canPage: false,
  availableBytes: 64 * GIB,
};

describe("memory of the KV cache", () => {
  test("is the size of keys and values of every head in every layer", () => {
    expect(kvBytesPerToken(model, "f16")).toBe(32 * 8 * 256 * 2);
    expect(kvBytesPerToken(model, "f32")).toBe(32 * 8 * 256 * 4);
    expect(kvBytesPerToken(model, "q8_0")).toBe(32 * 8 * 256 * 1.0625);
  });

  test("leaves out layers without a cache", () => {
    expect(kvBytesPerToken({ ...model, kvHeads: [0, 8, 0, 8] }, "f16")).toBe(16 * 256 * 2);
  });
});

describe("without --ctx", () => {
  test("a large machine does not commit more than 2 GiB", () => {
    const { context, note } = chooseContext(needs);
    expect(context).toBe(16_384);
    expect(note).toContain("131072");
  });

  test("a small machine keeps memory for other programs", () => {
    const { context, maxModelLen, note } = chooseContext({ ...needs, availableBytes: 7 * GIB });
    expect(context * kvBytesPerToken(model, "f16")).toBeLessThan(1 * GIB);
    expect(context % 256).toBe(0);
    expect(maxModelLen).toBe(context);
    expect(note).toContain("free memory");
  });

  test("the weights and the cache of a draft model are included", () => {
    const draft = { ...model, kvHeads: [8, 8, 8, 8], tensorBytes: GIB };
    const [alone, both] = [undefined, draft].map((one) =>
      chooseContext({ ...needs, availableBytes: 8 * GIB, ...(one && { draft: one }) }),
    );
    expect(both?.context).toBeLessThan((alone?.context ?? 0) - 256);
    expect(both?.tokenBytes).toBe(alone?.tokenBytes as number);
    const requested = { ...needs, availableBytes: 8.5 * GIB, requested: 16_384 };
    expect(chooseContext(requested).note).toBeUndefined();
    expect(chooseContext({ ...requested, draft }).note).toContain("GiB");
  });

  test("a machine without enough memory still gets the smallest context", () => {
    expect(chooseContext({ ...needs, availableBytes: 0 }).context).toBe(512);
  });

  test("a small model gets its full length for every parallel request", () => {
    const small = { ...model, trainedContext: 4096, kvHeads: [2, 2], tensorBytes: 4_000_000 };
    expect(chooseContext({ ...needs, model: small })).toMatchObject({ context: 16_384, maxModelLen: 4096 });
    expect(chooseContext({ ...needs, model: small, kvMode: "streams" })).toMatchObject({
      context: 16_384,
      maxModelLen: 4096,
    });
  });

  test("a model without keys and values is not limited by them", () => {
    const recurrent = { ...model, trainedContext: 8192, kvHeads: [] };
    for (const availableBytes of [64 * GIB, 0]) {
      const choice = chooseContext({ ...needs, model: recurrent, availableBytes });
      expect(choice).toMatchObject({ context: 32_768, maxModelLen: 8192, tokenBytes: 0 });
    }
  });
});

describe("with --ctx", () => {
  test("the value is used, in whole blocks of 256", () => {
    expect(chooseContext({ ...needs, requested: 5000 })).toMatchObject({ context: 5120, maxModelLen: 5000 });
  });

  test("more than the model was trained for is allowed and reported", () => {
    const small = { ...model, trainedContext: 4096 };
    const choice = chooseContext({ ...needs, model: small, requested: 8192 });
    expect(choice).toMatchObject({ context: 8192, maxModelLen: 8192 });
    expect(choice.note).toContain("4096 tokens the model was trained for");
  });

  test("more than the memory can hold is reported", () => {
    const { note } = chooseContext({ ...needs, availableBytes: 8 * GIB, requested: 65_536 });
    expect(note).toMatch(/needs 8\.0 GiB where 2\.\d GiB are free/);
  });

  test("every request gets its share with streams", () => {
    expect(chooseContext({ ...needs, kvMode: "streams", requested: 8192 }).maxModelLen).toBe(2048);
  });
});

describe("the paged layout", () => {
  const paged: ContextNeeds = { ...needs, kvMode: "auto", canPage: true, parallel: 32 };

  test("is the default where possible, with a larger limit because memory is taken as the cache fills", () => {
    expect(chooseContext(paged)).toMatchObject({ kvMode: "paged", context: 65_536, maxModelLen: 32_768 });
    expect(chooseContext({ ...paged, availableBytes: 7 * GIB }).context).toBeLessThan(8192);
  });

  test("shares --ctx among requests, and one request may use all of it", () => {
    expect(chooseContext({ ...paged, requested: 8192 })).toMatchObject({ context: 8192, maxModelLen: 8192 });
  });

  test.each(["model", "draft"])(
    "is not used for a %s with a sliding window or a layer without keys and values",
    (which) => {
      for (const change of [{ slidingWindow: 1024 }, { kvHeads: [0, 8, 0, 8] }, { kvHeads: [] }]) {
        const other = { ...paged, [which]: { ...model, ...change } };
        expect(chooseContext(other).kvMode).not.toBe("paged");
        const { kvMode, kvReason } = chooseContext({ ...other, kvMode: "paged" });
        expect([kvMode, kvReason]).toEqual(["unified", "a paged cache is not possible here"]);
      }
    },
  );
});

describe("the layout for parallel requests", () => {
  const small = { ...model, trainedContext: 4096, kvHeads: [2, 2], tensorBytes: 4_000_000 };

  test("has a reason, unless it is what was asked for", () => {
    const reason = (changes: Partial<ContextNeeds>) => chooseContext({ ...needs, kvMode: "auto", ...changes }).kvReason;
    expect(reason({ canPage: true })).toBe("memory is taken as it fills");
    expect(reason({ parallel: 8 })).toBe("best for at most 8 requests");
    expect(reason({ parallel: 32 })).toBe("shares would be small for 32 requests");
    const many = { model: small, parallel: 16 };
    expect(reason(many)).toBe("shares are faster for more than 8 requests");
    expect(reason({ ...many, kvMode: "streams" })).toBeUndefined();
  });

  test("is shared for a few requests", () => {
    expect(chooseContext({ ...needs, model: small, kvMode: "auto", parallel: 8 }).kvMode).toBe("unified");
  });

  test("is streams for many requests, when each gets enough", () => {
    const choice = chooseContext({ ...needs, model: small, kvMode: "auto", parallel: 16 });
    expect(choice).toMatchObject({ kvMode: "streams", maxModelLen: 4096 });
  });

  test("is shared for many requests, when streams would leave too little for each", () => {
    expect(chooseContext({ ...needs, kvMode: "auto", parallel: 32 }).kvMode).toBe("unified");
    expect(chooseContext({ ...needs, kvMode: "auto", parallel: 32, requested: 16_384 }).kvMode).toBe("unified");
  });
});
