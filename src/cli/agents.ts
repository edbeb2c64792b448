// Coding agents, and how each is pointed at a server for one run: by environment and arguments, without changing files.

import type { Environment } from "../config/environment.ts";

/** The server and model that an agent uses. */
export interface AgentTarget {
  /** Address without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  readonly model: string;
  /** Largest prompt plus output of one request, in tokens; undefined when unknown. */
  readonly context: number | undefined;
}

interface AgentSettings {
  readonly args: readonly string[];
  /** Variables to set; undefined removes a variable from the user's environment. */
  readonly env: Environment;
}

export interface Agent {
  /** The program on PATH. */
  readonly program: string;
  /** The command that installs the program, shown when it is missing. */
  readonly install: string;
  /** Whether the agent needs a model that calls tools. */
  readonly callsTools: boolean;
  /** Variables that name a file of certificates to trust. `alone`: the file replaces all other certificates. */
  readonly certificates: { readonly variables: readonly string[]; readonly alone?: true };
  /** `write` stores a file for the duration of the run and returns its path. */
  readonly settings: (target: AgentTarget, write: (name: string, text: string) => string) => AgentSettings;
}

/** Stream idle timeout in milliseconds: a long first prompt on a slow machine may take that long. */
const PATIENCE_MS = 3_600_000;
/** Context in tokens that is assumed when the server does not report one. */
const USUAL_CONTEXT = 32_768;
const LONGEST_OUTPUT = 8192;

const outputOf = (context: number): number => Math.min(LONGEST_OUTPUT, Math.floor(context / 4));

/** A JSON string is also a TOML string. */
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
    // Keeps Codex from fetching plugins from the internet.
    "features.plugins": false,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${toml(value)}`]);
  return { args, env: { SVC_LAUNCH_KEY: apiKey } };
};

const claude: Agent["settings"] = ({ url, apiKey, model, context }, write) => {
  const env = {
    ANTHROPIC_BASE_URL: url,
    // Claude Code uses a token without asking, but asks the user before it uses an API key.
    ANTHROPIC_AUTH_TOKEN: apiKey,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_OPUS_MODEL: model,
    ANTHROPIC_DEFAULT_SONNET_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    CLAUDE_CODE_SUBAGENT_MODEL: model,
    ...(context !== undefined && { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(context) }),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
  // The environment in the user's settings overrides the process environment; --settings overrides both.
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
    // Aider's config file overrides OPENAI_API_BASE; these variables override the file.
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
