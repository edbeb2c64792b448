// A model whose workers have disappeared.

import { expect, setDefaultTimeout, test } from "bun:test";
import { spreadLeft, spreadLoading } from "../../src/cli/workers.ts";
import { SvcError } from "../../src/domain/errors.ts";
import type { EngineOptions } from "../../src/engine/text/protocol.ts";
import type { FoundWorker } from "../../src/engine/worker/probe.ts";
import { testConfig } from "../http/harness.ts";
import { fakeWorker } from "../support/fake-worker.ts";
import { freePort } from "../support/free-port.ts";
import { testLaunch } from "../support/launch.ts";

setDefaultTimeout(30_000);

const found = (name: string, devices: number): FoundWorker => ({
  name,
  endpoint: name,
  free: Array.from({ length: devices }, () => 2 ** 30),
});
const [a, b, c] = [found("a", 1), found("b", 2), found("c", 1)];
const all = [a, b, c];
const split = { splitMode: "layer", mainGpu: 0, tensorSplit: [1, 2, 3, 4, 5] } as const;

test("remaining devices keep their shares, including those of this machine", () => {
  expect(spreadLeft(all, all, split).tensorSplit).toEqual([1, 2, 3, 4, 5]);
  expect(spreadLeft(all, [a, c], split)).toMatchObject({
    workers: [{ name: "a" }, { name: "c" }],
    tensorSplit: [1, 4, 5],
  });
  expect(spreadLeft(all, [], split).tensorSplit).toEqual([5]);
  expect(spreadLeft(all, [a], { ...split, tensorSplit: [0, 1, 1] }).tensorSplit).toEqual([]);
});

test("the main device stays the same, or becomes the first", () => {
  const mainOf = (mainGpu: number, present: readonly FoundWorker[]) =>
    spreadLeft(all, present, { ...split, splitMode: "none", mainGpu }).mainGpu;
  expect(mainOf(3, all)).toBe(3);
  expect(mainOf(3, [a, c])).toBe(1);
  expect(mainOf(1, [a, c])).toBe(0);
  expect(mainOf(4, [])).toBe(0);
});

test.concurrent(
  "without a worker, the local layers must fit on this machine, which gets all layers when only it has memory",
  async () => {
    const left = fakeWorker(1000);
    const workers = [left.port, await freePort()].map((port) => ({ host: "127.0.0.1", port }));
    const workersOf = async (gpuLayers: number) => {
      const loading = spreadLoading({
        config: { ...testConfig, gpuLayers, workers },
        options: {} as EngineOptions,
        workers: workers.map(({ port }) => found(`127.0.0.1:${port}`, 1)),
        needBytes: 2 ** 20,
        log: testLaunch().log,
      });
      await loading.prepare?.(new AbortController().signal);
      return loading.load().spread?.workers.map(({ name }) => name);
    };
    expect(await Promise.all([20, -1].map(workersOf))).toEqual([[`127.0.0.1:${left.port}`], []]);
    left.stop(true);
  },
);

test.concurrent(
  "when the remaining memory is too small, requests are refused, and the log has the worker and the size",
  async () => {
    const lines: string[] = [];
    const launch = testLaunch();
    const note = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`);
    const port = await freePort();
    const loading = (needBytes: number) =>
      spreadLoading({
        config: { ...testConfig, workers: [{ host: "127.0.0.1", port }] },
        options: {} as EngineOptions,
        workers: [found(`127.0.0.1:${port}`, 1)],
        needBytes,
        log: { ...launch.log, warn: note, error: note },
      });
    const { signal } = new AbortController();
    const small = loading(1);
    expect(small.load().spread?.workers).toHaveLength(1);
    // Each waits for the worker to come back.
    const [refused] = await Promise.all([
      loading(2 ** 60)
        .prepare?.(signal)
        ?.catch((error: unknown) => error),
      small.prepare?.(signal),
    ]);
    expect(refused).toBeInstanceOf(SvcError);
    expect(refused).toMatchObject({ code: "engine_unavailable", message: expect.not.stringContaining("127.0.0.1") });
    expect(small.load().spread?.workers).toEqual([]);
    expect(lines.toSorted()).toEqual([
      expect.stringMatching(/^loading the model without an unreachable worker .*ECONNREFUSED/),
      expect.stringMatching(/^the model needs a worker that is unreachable .*ECONNREFUSED.* GiB/),
    ]);
  },
);
