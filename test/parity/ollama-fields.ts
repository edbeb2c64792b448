// Fields of Ollama: docs/api.md, and the types of its requests.

import { rows, messages, begun, tools, OWN, ONE_MODEL, MACHINE, type PeerRoute } from "./peer-field.ts";

const ollamaOptions = [
  ...rows(
    "honoured",
    ["options.seed", 42],
    ["options.num_predict", 100],
    ["options.top_k", 20],
    ["options.top_p", 0.9],
    ["options.min_p", 0.1],
    ["options.typical_p", 0.7],
    ["options.repeat_last_n", 33],
    ["options.temperature", 0.8],
    ["options.repeat_penalty", 1.2],
    ["options.presence_penalty", 1.5],
    ["options.mirostat", 1],
    ["options.mirostat_tau", 0.8],
    ["options.mirostat_eta", 0.6],
    ["options.stop", ["\n", "user:"]],
  ),
  ...rows(
    "none",
    ["options.frequency_penalty", 1, OWN],
    ["options.num_keep", 5, "no context is shifted: a prompt that is too long is a 400"],
    ["options.num_ctx", 1024, "--ctx; a prompt that is too long is a 400"],
    ["options.penalize_newline", true, "no server of llama.cpp's has it any more"],
    ["options.numa", false, MACHINE],
    ["options.num_batch", 2, MACHINE],
    ["options.num_gpu", 1, MACHINE],
    ["options.main_gpu", 0, MACHINE],
    ["options.low_vram", false, MACHINE],
    ["options.vocab_only", false, MACHINE],
    ["options.use_mmap", true, MACHINE],
    ["options.use_mlock", false, MACHINE],
    ["options.num_thread", 8, MACHINE],
    ["keep_alive", "5m", ONE_MODEL],
  ),
];
const ollamaCommon = [
  ...rows("honoured", ["model", "x"], ["format", "json"], ["stream", false], ["think", true], ["logprobs", true]),
  ...ollamaOptions,
  ...rows("refused", ["truncate", true, "a prompt that is too long is a 400"], ["shift", true]),
];

export const ollamaRoutes: readonly PeerRoute[] = [
  {
    peer: "Ollama",
    route: "POST /api/generate",
    path: "/api/generate",
    body: { prompt: "a" },
    fields: [
      ...rows(
        "honoured",
        ["prompt", "b"],
        ["suffix", "x"],
        ["system", "s"],
        ["raw", true],
        ["context", [1, 2], "deprecated there"],
      ),
      ...ollamaCommon,
      ...rows("refused", ["template", "x"], ["width", 64], ["height", 64], ["steps", 4]),
      ...rows("refused", ["images", ["eA=="], "honoured with --mmproj; here without one"]),
    ],
  },
  {
    peer: "Ollama",
    route: "POST /api/chat",
    path: "/api/chat",
    body: { messages },
    fields: [...rows("honoured", ["messages", begun], ["tools", tools]), ...ollamaCommon],
  },
  {
    peer: "Ollama",
    route: "POST /api/embed",
    path: "/api/embed",
    body: { input: "a" },
    fields: [
      ...rows("honoured", ["input", ["a", "b"]], ["truncate", false], ["dimensions", 2]),
      ...rows("none", ["options", { num_ctx: 5 }, MACHINE], ["keep_alive", "5m", ONE_MODEL]),
    ],
  },
];
