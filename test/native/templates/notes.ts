// Why a template does not pass a column of the fidelity table. Every failure has a note, and every note belongs to a
// failure.

import type { Family } from "./family.ts";
import type { Column } from "./fidelity.ts";

export interface Note {
  readonly templates: readonly string[];
  readonly columns: readonly Column[];
  /** `template`: the template does not support this. `upstream`: llama.cpp fails to handle what the template does. */
  readonly cause: "template" | "upstream";
  readonly reason: string;
}

const LLAMA_CPP = "llama.cpp";

export const NOTES: readonly Note[] = [
  {
    templates: [
      "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B",
      "deepseek-ai-DeepSeek-V3.1",
      "fireworks-ai-llama-3-firefunction-v2",
    ],
    columns: ["tools", "schemas"],
    cause: "template",
    reason: "It writes calls and results but not the tools themselves, which the client has to describe in a message.",
  },
  {
    templates: ["LFM2-8B-A1B", "LFM2.5-Instruct", "ibm-granite-granite-3.3-2B-Instruct"],
    columns: ["call", "2 calls"],
    cause: "template",
    reason: "It writes the content of assistant messages alone, so that earlier calls are not in the prompt.",
  },
  {
    templates: [
      "Qwen-QwQ-32B",
      "Apriel-1.6-15b-Thinker-fixed",
      "Apertus-8B-Instruct",
      "HuggingFaceTB-SmolLM3-3B",
      "NVIDIA-Nemotron-Nano-v2",
      "deepseek-ai-DeepSeek-R1-Distill-Llama-8B",
      "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B",
      "deepseek-ai-DeepSeek-V3.1",
      "ibm-granite-granite-3.3-2B-Instruct",
      "llama-cpp-deepseek-r1",
      "llama-cpp-rwkv-world",
    ],
    columns: ["thought"],
    cause: "template",
    reason: "It has no place for reasoning that came before.",
  },
  {
    templates: ["upstage-Solar-Open-100B"],
    columns: ["thought"],
    cause: "upstream",
    reason: `It looks for reasoning in \`message.reasoning\`; ${LLAMA_CPP} fills \`reasoning_content\` alone.`,
  },
  {
    templates: ["unsloth-mistral-Devstral-Small-2507"],
    columns: ["history"],
    cause: "upstream",
    reason:
      `An earlier answer with reasoning is lost, text and all: ${LLAMA_CPP} makes it a list of parts, as for Ministral, ` +
      "which this template ignores.",
  },
  {
    templates: ["CohereForAI-c4ai-command-r-plus-tool_use", "GigaChat3-10B-A1.8B"],
    columns: ["schemas"],
    cause: "upstream",
    reason:
      "Rendering fails where Python goes on, with plain types too (Command R+: `items` of an array). svc then tells the " +
      "model the tools' names and descriptions only.",
  },
  {
    templates: ["upstage-Solar-Open-100B"],
    columns: ["→ call", "→ 2 calls", "→ types", "→ thought, call"],
    cause: "upstream",
    reason: `${LLAMA_CPP} takes the sample id \`call00001\` for a part of the format, and \`<|calls|>\` for text.`,
  },
  {
    templates: ["upstage-Solar-Open-100B"],
    columns: ["→ text", "→ thought"],
    cause: "upstream",
    reason: `${LLAMA_CPP} does not find the channels: \`<|content|>\` and \`<|think|>\` stay in the text.`,
  },
  {
    templates: ["ibm-granite-granite-3.3-2B-Instruct"],
    columns: ["→ call", "→ 2 calls", "→ types", "→ thought, call"],
    cause: "upstream",
    reason: `${LLAMA_CPP} learns the format from rendered calls, and this template renders none: calls stay text.`,
  },
  {
    templates: ["ibm-granite-granite-3.3-2B-Instruct"],
    columns: ["→ thought"],
    cause: "upstream",
    reason: `\`<response>\` around the answer stays in the text; ${LLAMA_CPP} lists it as to be done.`,
  },
  {
    templates: ["Apertus-8B-Instruct"],
    columns: ["→ thought", "→ thought, call"],
    cause: "upstream",
    reason: `${LLAMA_CPP} does not find \`<|inner_prefix|>\`: the template renders it for lists of blocks only.`,
  },
  {
    templates: ["llama-cpp-rwkv-world"],
    columns: ["→ thought"],
    cause: "upstream",
    reason: `It adds the generation prompt unasked, so that ${LLAMA_CPP} cannot tell that \`<think>\` is already open.`,
  },
  {
    templates: ["CohereForAI-c4ai-command-r-plus-tool_use"],
    columns: ["→ text"],
    cause: "upstream",
    reason:
      "With tools, the parser waits for a `<|CHATBOT_TOKEN|>` that the prompt has already written: the text is complete, " +
      "but comes as rejected text when the answer is over.",
  },
  {
    templates: ["MiniMax-M1", "MiniMax-M2"],
    columns: ["→ 2 calls"],
    cause: "upstream",
    reason: `${LLAMA_CPP} expects commas between the calls of one block; the model writes line breaks.`,
  },
  {
    templates: ["meetkai-functionary-medium-v3.2"],
    columns: ["→ 2 calls"],
    cause: "upstream",
    reason: `${LLAMA_CPP}'s parser has no \`>>>\` before the second call.`,
  },
];

/** Returns whether `count` calls of the family's first template are parsed as they were written. */
export function readsCalls(family: Family, count: number, thinking = false): boolean {
  const column = thinking ? "→ thought, call" : count > 1 ? "→ 2 calls" : "→ call";
  const [template = ""] = family.templates;
  return !NOTES.some((note) => note.templates.includes(template) && note.columns.includes(column));
}
