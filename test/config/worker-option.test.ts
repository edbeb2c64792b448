import { describe, expect, test } from "bun:test";
import { UsageError } from "../../src/config/parse.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { parseNetworks } from "../../src/config/worker-option.ts";

const config = (given: Readonly<Record<string, string | number | readonly string[]>>) =>
  resolveConfig([new Map(Object.entries(given))], {});

test("workers have a default port, and shares are numbers", () => {
  expect(config({ worker: ["10.0.0.2", "large-box.lan:1234"], "tensor-split": ["3", "0.5"] })).toMatchObject({
    workers: [
      { host: "10.0.0.2", port: 50_052 },
      { host: "large-box.lan", port: 1234 },
    ],
    tensorSplit: [3, 0.5],
  });
  expect(config({})).toMatchObject({ workers: [], tensorSplit: [], splitMode: "layer", mainGpu: 0 });
});

describe("is refused:", () => {
  test.each([
    ["an IPv6 address", { worker: ["::1"] }, "--worker must be HOST or HOST:PORT"],
    ["a URL", { worker: ["http://a:1"] }, "--worker must be HOST or HOST:PORT"],
    ["a port beyond all", { worker: ["a:65536"] }, "--worker must be HOST or HOST:PORT"],
    ["one worker twice", { worker: ["a", "a:50052"] }, "--worker names a:50052 twice"],
    ["17 workers", { worker: Array.from({ length: 17 }, (_, at) => `a:${at + 1}`) }, "16 times, not 17"],
    ["a share below 0", { "tensor-split": ["1", "-1"] }, "--tensor-split must be numbers from 0"],
    ["no share at all", { "tensor-split": ["0", "0"] }, "not all 0"],
    ["a word", { "tensor-split": ["half"] }, "--tensor-split must be numbers"],
    ["17 shares", { "tensor-split": Array.from({ length: 17 }, () => "1") }, "16 shares, not 17"],
    ["workers without layers", { worker: ["a"], "gpu-layers": 0 }, "contradict each other"],
    ["rows over workers", { worker: ["a"], "split-mode": "row" }, "--split-mode row"],
  ])("%s", (_what, given, sentence) => {
    expect(() => config(given as Parameters<typeof config>[0])).toThrow(UsageError);
    expect(() => config(given as Parameters<typeof config>[0])).toThrow(sentence);
  });
});

test("networks that may connect are addresses, with or without a prefix length", () => {
  expect(parseNetworks(["10.0.0.1", "10.1.0.0/16", "0.0.0.0/0"])).toEqual(["10.0.0.1/32", "10.1.0.0/16", "0.0.0.0/0"]);
  for (const wrong of ["10.0.0", "10.0.0.1/33", "::1", "host", "10.0.0.1/", ""])
    expect(() => parseNetworks([wrong])).toThrow(UsageError);
});
