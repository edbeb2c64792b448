import { describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { agents, type AgentTarget } from "../../src/cli/agents.ts";
import { isFor } from "../../src/cli/agent-trust.ts";
import { choose, wantedModel } from "../../src/cli/launch.ts";
import { ModelStore } from "../../src/store/models/model-store.ts";
import { temporaryFolder } from "../support/folders.ts";

const target: AgentTarget = {
  url: "http://127.0.0.1:9999",
  apiKey: "key-of-ada",
  model: 'odd "name"',
  context: 65_536,
};
const settingsOf = (name: string, context = target.context) => {
  const files: Record<string, string> = {};
  const write = (file: string, text: string) => {
    files[file] = text;
    return `/run/${file}`;
  };
  const settings = agents[name]?.settings({ ...target, context }, write);
  if (!settings) throw new Error(`no agent ${name}`);
  return { ...settings, files };
};

describe("the start of an agent", () => {
  test("codex gets settings that its config file would have", () => {
    const { args, env } = settingsOf("codex");
    const lines = args.filter((arg) => arg !== "-c").join("\n");
    expect(Bun.TOML.parse(lines)).toEqual({
      model: target.model,
      model_provider: "svc",
      model_context_window: 65_536,
      model_providers: {
        svc: {
          name: "svc",
          base_url: "http://127.0.0.1:9999/v1",
          wire_api: "responses",
          env_key: "SVC_LAUNCH_KEY",
          stream_idle_timeout_ms: 3_600_000,
        },
      },
      features: { plugins: false },
    });
    expect(env).toEqual({ SVC_LAUNCH_KEY: "key-of-ada" });
    expect(lines).not.toContain("key-of-ada");
  });

  test("claude gets an environment without the key of another server", () => {
    const { args, env, files } = settingsOf("claude");
    expect(args).toEqual(["--settings", "/run/claude-settings.json"]);
    const { ANTHROPIC_API_KEY: _, ...set } = env;
    expect(JSON.parse(files["claude-settings.json"] ?? "")).toEqual({ env: set });
    expect(env).toMatchObject({
      ANTHROPIC_BASE_URL: target.url,
      ANTHROPIC_AUTH_TOKEN: "key-of-ada",
      ANTHROPIC_API_KEY: undefined,
      ANTHROPIC_MODEL: target.model,
      CLAUDE_CODE_MAX_CONTEXT_TOKENS: "65536",
    });
  });

  test("opencode gets its own provider", () => {
    const { env } = settingsOf("opencode");
    const { model, provider } = JSON.parse(env["OPENCODE_CONFIG_CONTENT"] ?? "");
    expect(model).toBe(`svc/${target.model}`);
    expect(provider.svc.options).toEqual({ baseURL: "http://127.0.0.1:9999/v1", apiKey: "key-of-ada" });
    expect(provider.svc.models[target.model].limit).toEqual({ context: 65_536, output: 8192 });
  });

  test("aider gets the limits of the model in a temporary file", () => {
    const { args, env, files } = settingsOf("aider", 16_384);
    expect(args.slice(0, 4)).toEqual([
      "--model",
      `openai/${target.model}`,
      "--model-metadata-file",
      "/run/aider-models.json",
    ]);
    expect(env).toEqual({ AIDER_OPENAI_API_BASE: "http://127.0.0.1:9999/v1", AIDER_OPENAI_API_KEY: "key-of-ada" });
    const known = JSON.parse(files["aider-models.json"] ?? "")[`openai/${target.model}`];
    expect(known).toMatchObject({ max_input_tokens: 12_288, max_output_tokens: 4096 });
  });
});

describe("the model of an agent", () => {
  const { codex, aider } = agents;
  if (!codex || !aider) throw new Error("they are known");
  const entry = (id: string, max_context_length: number) => ({ id, owned_by: "svc", max_context_length });
  const served = {
    data: [
      entry("qwen", 65_536),
      { ...entry("small", 8192), aliases: ["tiny"] },
      { id: "minilm", owned_by: "svc" },
      entry("svc-system", 4096),
    ],
    models: [
      { name: "qwen", capabilities: ["chat", "tools"] },
      { name: "small", capabilities: ["chat"] },
      { name: "minilm", capabilities: ["embeddings"] },
      { name: "svc-system", capabilities: ["chat", "tools"], parameters: 4_200_000 },
    ],
  };

  test("is the first chat model without a warning", () => {
    expect(choose(served, codex, undefined)).toEqual({ id: "qwen", context: 65_536, warnings: [] });
  });

  const wanted = (model: string, options: { isAsked?: boolean; alias?: string[]; modelsDir?: string } = {}) =>
    wantedModel(
      { model, alias: options.alias ?? [], modelsDir: options.modelsDir ?? "/nowhere" },
      options.isAsked ?? true,
    );

  test("is the model named, by its name, alias or file", () => {
    for (const model of ["small", "tiny", "/models/small.gguf", "/models/small-00001-of-00002.gguf"]) {
      expect(choose(served, codex, wanted(model)).id).toBe("small");
    }
  });

  test("is the downloaded model named, whose id is that of its file", async () => {
    const modelsDir = temporaryFolder();
    const files = [{ path: "hub/Maker/Small-GGUF/small.gguf" }];
    await new ModelStore(modelsDir).save({ name: "Maker/Small-GGUF:Q4_K_M", url: "https://hub", files });
    for (const model of ["Maker/Small-GGUF", "small-gguf", "Maker/Small-GGUF:Q4_K_M"]) {
      expect(choose(served, codex, wanted(model, { modelsDir })).id).toBe("small");
    }
  });

  test("must be served and must chat, otherwise the error lists the models that do", () => {
    for (const model of ["other", "minilm"]) {
      expect(() => choose(served, codex, wanted(model))).toThrow(
        `The server serves qwen, small, svc-system, but not ${model}.`,
      );
    }
  });

  test("may be served under --alias, or be missing, when only the environment or the config file names it", () => {
    const isAsked = false;
    expect(choose(served, codex, wanted("/models/other.gguf", { isAsked, alias: ["qwen"] }))).toMatchObject({
      id: "qwen",
      warnings: [],
    });
    expect(choose(served, codex, wanted("other", { isAsked }))).toMatchObject({
      id: "qwen",
      warnings: [
        "The server serves qwen, small, svc-system, but not other, which SVC_MODEL or the config file names: qwen is used.",
      ],
    });
  });

  test("has a warning for a small context or missing tool calls, with models that are suitable", () => {
    const [context, tools] = choose(served, codex, wanted("small")).warnings;
    expect(context).toBe(
      "small takes 8192 tokens per request, but agents need 32768 or more: serve it with --ctx 65536.",
    );
    expect(tools).toMatch(
      /^small does not call tools, which codex needs\. Models that call tools.*: svc pull \S+-GGUF \(/,
    );
    expect(choose(served, aider, wanted("small")).warnings).toEqual([context ?? ""]);
  });

  test("has a warning when it is far too small for an agent", () => {
    const { warnings } = choose(served, codex, wanted("svc-system"));
    expect(warnings.at(-1)).toStartWith(
      "svc-system is too small to work as an agent: it has 4 million parameters. Models that call tools",
    );
  });
});

test("a certificate is trusted only for its own host names", () => {
  const cert = new X509Certificate(readFileSync(join(import.meta.dir, "../fixtures/tls/cert.pem")));
  const urls = ["https://127.0.0.1:1", "https://localhost:1", "https://box:1", "https://[::1]:1"];
  expect(urls.map((url) => isFor(cert, url))).toEqual([true, true, false, false]);
});
