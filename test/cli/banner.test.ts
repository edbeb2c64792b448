import { describe, expect, test } from "bun:test";
import { banner, exposure, gatewayBanner } from "../../src/cli/banner.ts";
import type { Reachable } from "../../src/cli/reachable.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import type { ModelInfo } from "../../src/domain/model.ts";
import type { UsableCores } from "../../src/engine/process/machine.ts";
import type { ContextChoice } from "../../src/model/context.ts";

const config = resolveConfig([], { HOME: "/home/ada" });
const model: ModelInfo = {
  id: "tiny",
  path: "/models/tiny.gguf",
  architecture: "qwen3",
  description: "qwen3 0.6B Q8_0",
  parameters: 596_000_000,
  bytes: 640 * 2 ** 20,
  trainedContext: 40_960,
  context: 8192,
  maxModelLen: 4096,
  parallel: 32,
  vision: false,
  audio: false,
  template: { tools: true, thinking: false },
  device: "CPU (zen4 variant, 2 threads)",
  sampling: { temperature: 0.8, topP: 0.95, presencePenalty: 0 },
  created: 0,
};
const size = {
  context: 8192,
  maxModelLen: 4096,
  tokenBytes: 1,
  spareBytes: 1,
  kvBytes: 8192,
  needBytes: 1,
  isTight: false,
};
const choice = { ...size, kvMode: "unified" } as const;
const local = { here: "http://127.0.0.1:9999" };
const cores: UsableCores = { count: 2, limit: "physical" };
const render = (modelGiven: boolean, addresses: Reachable = local, note?: string) =>
  banner({ config, context: { ...choice, ...(note && { note }) }, modelGiven }, model, { addresses, cores });

test("the banner shows model, context and its reason, device, address, and a request to paste", () => {
  const text = render(true, local, "capped by free memory");
  expect(text).toContain("tiny (qwen3 0.6B Q8_0; 596M parameters, 640.0 MiB)");
  expect(text).toContain(
    "4096 tokens per request (capped by free memory); 8192 in total for up to 32 requests at once\n",
  );
  expect(text).toContain("CPU (zen4 variant, 2 threads)");
  expect(text).toContain("supports tools, JSON schemas\n");
  expect(text).toContain("http://127.0.0.1:9999/v1");
  expect(text).toContain("curl http://127.0.0.1:9999/v1/chat/completions");
  expect(text).not.toContain("svc-mini");
});

test("the banner shows the layout of the KV cache with its memory, and the threads, each with the reason", () => {
  const shown = (context: Partial<ContextChoice>, options = { cores, threads: undefined as number | undefined }) => {
    const { threads } = options;
    const chosen = { config: { ...config, ...(threads && { threads }) }, modelGiven: true };
    return banner({ ...chosen, context: { ...choice, ...context } }, model, { addresses: local, cores: options.cores });
  };
  const paged = shown({ kvMode: "paged", kvBytes: 8 * 2 ** 30, kvReason: "memory is taken as it fills" });
  expect(paged).toContain("  KV cache paged, 8.0 GiB when full (memory is taken as it fills)\n");
  expect(shown({ kvBytes: 2 ** 30 })).toContain("  KV cache unified, at most 1.0 GiB (--kv-mode)\n");
  expect(shown({ kvBytes: 0 })).not.toContain("KV cache");
  const refused = {
    context: { ...choice, kvBytes: 0, kvReason: "a paged cache is not possible here" },
    modelGiven: true,
  };
  expect(banner({ ...refused, config: { ...config, kvMode: "paged" } }, model, { addresses: local, cores })).toContain(
    "  KV cache none (a paged cache is not possible here)\n",
  );
  expect(paged).toContain("  threads  at most 2 (the physical cores)\n");
  const share = { cores: { count: 3, limit: "share" } as const, threads: undefined };
  expect(shown({}, share)).toContain("  threads  at most 3 (the share of this container or service)\n");
  const allowed = { cores: { count: 1, limit: "allowed" } as const, threads: undefined };
  expect(shown({}, allowed)).toContain("  threads  at most 1 (the cores that svc may use)\n");
  expect(shown({}, { ...share, threads: 7 })).toContain("  threads  at most 7 (--threads)\n");
});

test("the banner names chat models that are loaded on first use", () => {
  const options = { addresses: local, cores, furtherModels: ["big", "small"] };
  const text = banner({ config, context: choice, modelGiven: true }, model, options);
  expect(text).toContain("others   big, small (loaded on first use)");
  expect(gatewayBanner(0, options)).toContain("models   big, small");
  expect(render(true)).not.toContain("others  ");
  const none = gatewayBanner(0, { addresses: local, offersPulled: true });
  expect(none).toContain("models   none yet: svc pull owner/repository");
  expect(none).not.toContain("upstreams");
  expect(gatewayBanner(0, { addresses: local })).toContain("gateway  no chat model so far: --chat-model");
  const many = { addresses: local, furtherModels: [..."abcdefgh"] };
  expect(gatewayBanner(0, many)).toContain("models   a, b, c, d, e, f and 2 more (loaded on first use)");
});

test("the request to paste has a placeholder for the API key when keys are required", () => {
  const keyed = { ...config, apiKeys: [{ name: "ada", key: "secret" }] };
  const text = banner({ config: keyed, context: choice, modelGiven: true }, model, { addresses: local, cores });
  expect(text).toContain("-H 'Authorization: Bearer KEY'");
  expect(text).not.toContain("secret");
});

test("the banner shows what answers without a model, and how to load one", () => {
  expect(render(false)).toContain("svc-mini, a tiny demonstration model. For real work:\n  svc --model ");
});

test("the banner shows the address for other machines, or how to listen there", () => {
  expect(render(true)).toContain("this machine alone; --host 0.0.0.0");
  const text = render(true, { here: "http://127.0.0.1:8080", others: ["http://192.168.1.5:8080"] });
  expect(text).toContain("curl http://127.0.0.1:8080/");
  expect(text).toContain("network  http://192.168.1.5:8080/");
  expect(text).not.toContain("this machine alone");
});

test("the banner does not advise to listen on the network when there is none", () => {
  const text = render(true, { ...local, others: [] });
  expect(text).not.toContain("--host 0.0.0.0");
  expect(text).toContain("network  no address yet");
});

test("the request to paste trusts the certificate with HTTPS", () => {
  const secure = { ...config, tls: { certFile: "/etc/svc/box.pem", cert: "", key: "" } };
  const text = banner({ config: secure, context: choice, modelGiven: true }, model, { addresses: local, cores });
  expect(text).toContain(`curl --cacert '/etc/svc/box.pem' ${local.here}/v1/chat/completions`);
});

test("the banner has colours only on terminals that support them", () => {
  expect(render(true)).not.toContain("\u001b");
  const text = banner({ config, context: choice, modelGiven: true }, model, { addresses: local, cores, colours: true });
  expect(text).toContain("\u001b[36mhttp://127.0.0.1:9999/\u001b[39m");
});

describe("exposure", () => {
  test.each(["127.0.0.1", "127.8.8.8", "localhost", "::1"])("%s counts as this machine only", (host) => {
    expect(exposure({ host, port: 1, apiKeys: [] })).toBe("");
  });

  test.each(["0.0.0.0", "[::]", "192.168.1.5", "127.example.com", "box.local"])("%s is reported as exposed", (host) => {
    expect(exposure({ host: host.replace(/[[\]]/g, ""), port: 8080, apiKeys: [] })).toContain(
      `listening on ${host}:8080: everyone who can reach`,
    );
  });

  test("is not reported when keys are required", () => {
    expect(exposure({ host: "0.0.0.0", port: 1, apiKeys: [{ name: "ada", key: "secret" }] })).toBe("");
  });
});
