// The number of processes that read pages.

import { expect, test } from "bun:test";
import { recognitionEngine } from "../../src/cli/recognition-engine.ts";
import { testConfig } from "../http/harness.ts";
import { testLaunch } from "../support/launch.ts";

test("as many pages are read in parallel as there are threads, within limits", () => {
  const files = { libraries: "", embeddedModel: "", embeddedImages: { model: "", textEncoder: "", taesd: "" } };
  const parallel = (threads?: number) =>
    recognitionEngine(undefined, {
      config: { ...testConfig, ...(threads && { threads }) },
      launch: testLaunch(),
      native: files,
    }).parallel;
  expect([1, 2, 3, 4, 64].map(parallel)).toEqual([1, 2, 3, 4, 4]);
  expect(parallel()).toBeLessThanOrEqual(2);
});
