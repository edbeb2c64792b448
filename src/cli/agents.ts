// Coding agents, and how each is pointed at a server for one run: by its environment and arguments. Nobody's files are changed.

import type { Environment } from "../config/environment.ts";

/** The server and the model that an agent is to use. */
export interface AgentTarget {
  /** Address without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  readonly model: string;
  /** Largest prompt plus output of one request, in tokens; undefined: not known. */
  readonly context: number | undefined;
}

interface AgentSettings {
  readonly args: readonly string[];
  /** Undefined: removed from what the user has. */
  readonly env: Environment;
}

export interface Agent {
  /** The program on PATH. */
  readonly program: string;
  /** How it is installed, for who does not have it. */
  readonly install: string;
  /** Whether its model has to call tools. */
  readonly callsTools: boolean;
  /** Variables that name a file of certificates to trust. `alone`: in place of all others, not beside them. */
  readonly certificates: { readonly variables: readonly string[]; readonly alone?: true };
  /** `write`: keeps a file for the time of the run, and returns its path. */
  readonly settings: (target: AgentTarget, write: (name: string, text: string) => string) => AgentSettings;
}

/** Milliseconds that a long first prompt on a slow machine may take. */
const PATIENCE_MS = 3_600_000;
/** Where nobody knows the context. */
const USUAL_CONTEXT = 32_768;
const LONGEST_OUTPUT = 8192;

const outputOf = (context: number): number => Math.min(LONGEST_OUTPUT, Math.floor(context / 4));

/** A JSON string is a TOML string, too. */
const toml = (value: string | number | boolean): string => JSON.stringify(value);

const codex: Agent["settings"] = ({ url, apiKey, model, context }) => {
  const settings = {
    model,
    model_provider: "svc",
    "model_providers.svc.name": "svc",
    "model_providers.svc.base_url": `${url}/v1`,
    "model_providers.svc.wire_api": "responses",
    "model_providers.svc.env_key": "SVC_LAUNCH_KEY",
    "model_providers.svc.stream_idle_timeout_ms": PATIENCE_MS,
    ...(context !== undefined && { model_context_window: context }),
    // No attempt to fetch plugins from the internet.
    "features.plugins": false,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${toml(value)}`]);
  return { args, env: { SVC_LAUNCH_KEY: apiKey } };
};

const claude: Agent["settings"] = ({ url, apiKey, model, context }, write) => {
  const env = {
    ANTHROPIC_BASE_URL: url,
    // A token is taken as it is; about a key it would ask first.
    ANTHROPIC_AUTH_TOKEN: apiKey,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_OPUS_MODEL: model,
    ANTHROPIC_DEFAULT_SONNET_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    CLAUDE_CODE_SUBAGENT_MODEL: model,
    ...(context !== undefined && { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(context) }),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
  // What the user's settings say of the environment wins over the environment itself, and this over them.
  const settings = write("claude-settings.json", JSON.stringify({ env }));
  return { args: ["--settings", settings], env: { ...env, ANTHROPIC_API_KEY: undefined } };
};

const opencode: Agent["settings"] = ({ url, apiKey, model, context = USUAL_CONTEXT }) => {
  const limit = { context, output: outputOf(context) };
  const config = {
    model: `svc/${model}`,
    small_model: `svc/${model}`,
    provider: {
      svc: {
        name: "svc",
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${url}/v1`, apiKey },
        models: { [model]: { name: model, tool_call: true, limit } },
      },
    },
  };
  return { args: [], env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(config) } };
};

const aider: Agent["settings"] = ({ url, apiKey, model, context = USUAL_CONTEXT }, write) => {
  const output = outputOf(context);
  const known = { max_input_tokens: context - output, max_output_tokens: output, max_tokens: output, mode: "chat" };
  const metadata = write("aider-models.json", JSON.stringify({ [`openai/${model}`]: known }));
  return {
    args: ["--model", `openai/${model}`, "--model-metadata-file", metadata, "--no-show-model-warnings"],
    // Its config file wins over OPENAI_API_BASE, and these over the file.
    env: { AIDER_OPENAI_API_BASE: `${url}/v1`, AIDER_OPENAI_API_KEY: apiKey },
  };
};

const nodeCertificates: Agent["certificates"] = { variables: ["NODE_EXTRA_CA_CERTS"] };

export const agents: Readonly<Record<string, Agent>> = {
  codex: {
    program: "codex",
    install: "npm install -g @openai/codex",
    callsTools: true,
    certificates: { variables: ["CODEX_CA_CERTIFICATE"] },
    settings: codex,
  },
  claude: {
    program: "claude",
    install: "npm install -g @anthropic-ai/claude-code",
    callsTools: true,
    certificates: nodeCertificates,
    settings: claude,
  },
  opencode: {
    program: "opencode",
    install: "npm install -g opencode-ai",
    callsTools: true,
    certificates: nodeCertificates,
    settings: opencode,
  },
  aider: {
    program: "aider",
    install: "uv tool install aider-chat",
    callsTools: false,
    certificates: { variables: ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"], alone: true },
    settings: aider,
  },
};
