import { expect, test } from "bun:test";
import { parsePorts, parseUpstreams, withKeys } from "../../src/config/upstream-option.ts";
import { readConfig } from "../../src/config/read-config.ts";

const home = { HOME: "/nonexistent" };
const resolveUpstreams = (given: readonly string[], keys: readonly string[]) => withKeys(parseUpstreams(given), keys);

test("upstreams of one name are replicas, URLs lose /v1, and keys are assigned to their upstream", () => {
  const given = [
    "gpu=http://10.0.0.1:8000/v1",
    "gpu=http://10.0.0.2:8000",
    "far=https://models.example/api/v1/",
    "gpu=http://10.0.0.2:8000/",
  ];
  expect(resolveUpstreams(given, ["far=a=b"])).toEqual([
    { name: "gpu", urls: ["http://10.0.0.1:8000", "http://10.0.0.2:8000"] },
    { name: "far", urls: ["https://models.example/api"], key: "a=b" },
  ]);
  expect(parsePorts(["1", "65535"])).toEqual([1, 65_535]);
});

test("a key whose upstream is not configured is no error, as other commands read the same environment", () => {
  const { gateway } = readConfig(new Map(), { ...home, SVC_UPSTREAM_KEY: "gpu=k" }, "/");
  expect(gateway.upstreams).toEqual([]);
});

test("invalid values are refused, and no key is ever shown", () => {
  expect(() => resolveUpstreams(["http://10.0.0.1"], [])).toThrow("upstream must be name=url");
  expect(() => resolveUpstreams(["a/b=http://10.0.0.1"], [])).toThrow("upstream must be name=url");
  expect(() => resolveUpstreams(["gpu=ftp://10.0.0.1"], [])).toThrow("must be an http or https URL");
  expect(() => resolveUpstreams(["gpu=http://me:hunter2@10.0.0.1"], [])).toThrow(/^((?!hunter2).)*$/);
  for (const key of ["hunter2\n", "hunter 2", "hünter2"]) {
    const refused = () => resolveUpstreams(["gpu=http://a"], [`gpu=${key}`]);
    expect(refused).toThrow('The upstream-key of "gpu" must be visible ASCII');
    expect(refused).not.toThrow(/h.nter/);
  }
  expect(() => resolveUpstreams([], ["hunter2"])).toThrow(/^((?!hunter2).)*$/);
  expect(() => readConfig(new Map(), { ...home, SVC_UPSTREAM_KEY: "[hunter2" }, "/")).toThrow(/^((?!hunter2).)*$/);
  for (const port of ["0", "65536", "http"]) expect(() => parsePorts([port])).toThrow("1 to 65535");
});

test("discovery and upstreams are off by default", () => {
  const config = readConfig(new Map(), home, "/");
  expect([config.gateway, config.serveModel]).toEqual([
    { discover: false, ports: [], upstreams: [], hedge: false, timeoutMs: 300_000 },
    true,
  ]);
  const environment = {
    ...home,
    SVC_UPSTREAM: "gpu=http://10.0.0.1",
    SVC_UPSTREAM_KEY: "gpu=k",
    SVC_NO_MODEL: "1",
    SVC_GATEWAY: "1",
  };
  const all = readConfig(new Map(), environment, "/");
  expect(all.gateway).toEqual({
    discover: true,
    ports: [],
    upstreams: [{ name: "gpu", urls: ["http://10.0.0.1"], key: "k" }],
    hedge: false,
    timeoutMs: 300_000,
  });
  expect(all.serveModel).toBe(false);
  for (const [name, value] of [
    ["model", "x.gguf"],
    ["lora", ["x.gguf"]],
  ] as const) {
    const both = new Map<string, string | boolean | readonly string[]>([
      [name, value],
      ["no-model", true],
    ]);
    expect(() => readConfig(both, home, "/")).toThrow(`--${name} and --no-model contradict`);
  }
});
