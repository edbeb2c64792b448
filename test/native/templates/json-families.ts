// Families whose models write the arguments of a call as a JSON object.

import { json, WEATHER, ZONE, type Call, type CallFormat, type Family } from "./family.ts";

/** Writes {"name": …, "arguments": …} for each call, joined. */
const objects = (calls: readonly Call[], separator: string, key = "arguments") =>
  calls.map((call) => `{"name": "${call.name}", "${key}": ${json(call.arguments)}}`).join(separator);

const TOOL_CALL: CallFormat = {
  single: `<tool_call>\n{"name": "get_weather", "arguments": ${WEATHER}}\n</tool_call>`,
  parallel:
    `<tool_call>\n{"name": "get_weather", "arguments": ${WEATHER}}\n</tool_call>\n` +
    `<tool_call>\n{"name": "get_time", "arguments": ${ZONE}}\n</tool_call>`,
  write: (calls) => calls.map((call) => `<tool_call>\n${objects([call], "")}\n</tool_call>`).join("\n"),
};

const LLAMA: CallFormat = {
  single: `{"name": "get_weather", "parameters": ${WEATHER}}`,
  write: (calls) => objects(calls, "; ", "parameters"),
};

const KIMI_K2: CallFormat = {
  single:
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>" +
    `${WEATHER}<|tool_call_end|><|tool_calls_section_end|>`,
  parallel:
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>" +
    `${WEATHER}<|tool_call_end|><|tool_call_begin|>functions.get_time:1<|tool_call_argument_begin|>` +
    `${ZONE}<|tool_call_end|><|tool_calls_section_end|>`,
  write: (calls) => {
    const one = (call: Call, index: number) =>
      `<|tool_call_begin|>functions.${call.name}:${index}<|tool_call_argument_begin|>` +
      `${json(call.arguments)}<|tool_call_end|>`;
    return `<|tool_calls_section_begin|>${calls.map(one).join("")}<|tool_calls_section_end|>`;
  },
};

const APRIEL: CallFormat = {
  single: `<tool_calls>[{"name": "get_weather", "arguments": ${WEATHER}}]</tool_calls>`,
  parallel:
    `<tool_calls>[{"name": "get_weather", "arguments": ${WEATHER}}, ` +
    `{"name": "get_time", "arguments": ${ZONE}}]</tool_calls>`,
  write: (calls) => `<tool_calls>[${objects(calls, ", ")}]</tool_calls>`,
};

const MISTRAL: CallFormat = {
  single: `[TOOL_CALLS]get_weather[ARGS]${WEATHER}`,
  parallel: `[TOOL_CALLS]get_weather[ARGS]${WEATHER}[TOOL_CALLS]get_time[ARGS]${ZONE}`,
  write: (calls) => calls.map((call) => `[TOOL_CALLS]${call.name}[ARGS]${json(call.arguments)}`).join(""),
};

/** Writes Cohere's list of actions. */
const actions = (calls: readonly Call[]) =>
  calls
    .map(
      (call, index) =>
        `    {"tool_call_id": "${index}", "tool_name": "${call.name}", "parameters": ${json(call.arguments)}}`,
    )
    .join(",\n");

const COHERE: CallFormat = {
  single:
    `<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_weather", "parameters": ${WEATHER}}\n]` +
    "<|END_ACTION|>",
  parallel:
    `<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_weather", "parameters": ${WEATHER}},\n` +
    `    {"tool_call_id": "1", "tool_name": "get_time", "parameters": ${ZONE}}\n]<|END_ACTION|>`,
  write: (calls) => `<|START_ACTION|>[\n${actions(calls)}\n]<|END_ACTION|>`,
};

const DEEPSEEK_R1: CallFormat = {
  single:
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n" +
    `${WEATHER}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  parallel:
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n" +
    `${WEATHER}\n\`\`\`<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_time\n\`\`\`json\n` +
    `${ZONE}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  write: (calls) => {
    const one = (call: Call) =>
      `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${call.name}\n\`\`\`json\n${json(call.arguments)}\n\`\`\`<｜tool▁call▁end｜>`;
    return `<｜tool▁calls▁begin｜>${calls.map(one).join("\n")}<｜tool▁calls▁end｜>`;
  },
};

export const jsonFamilies: readonly Family[] = [
  {
    name: "tool_call",
    templates: [
      "MiMo-VL",
      "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use",
      "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
      "Qwen-Qwen2.5-7B-Instruct",
      "ibm-granite-granite-4.0",
      "ibm-granite-granite-4.1",
    ],
    calls: TOOL_CALL,
  },
  {
    name: "tool_call, reasoning",
    templates: ["Qwen-Qwen3-0.6B"],
    calls: TOOL_CALL,
    thought: ["<think>\n", "\n</think>\n\n"],
  },
  {
    name: "tool_call, reasoning opened by the prompt",
    templates: ["Qwen-QwQ-32B", "Reka-Edge", "Bielik-11B-v3.0-Instruct"],
    calls: TOOL_CALL,
    thought: ["", "\n</think>\n\n"],
  },
  {
    name: "Llama 3",
    templates: [
      "meta-llama-Llama-3.1-8B-Instruct",
      "meta-llama-Llama-3.2-3B-Instruct",
      "meta-llama-Llama-3.3-70B-Instruct",
    ],
    calls: LLAMA,
  },
  { name: "Kimi K2", templates: ["Kimi-K2-Instruct", "moonshotai-Kimi-K2"], calls: KIMI_K2 },
  {
    name: "Kimi K2, reasoning",
    templates: ["Kimi-K2-Thinking"],
    calls: KIMI_K2,
    thought: ["<think>", "</think>"],
  },
  { name: "Apriel 1.5", templates: ["unsloth-Apriel-1.5"], calls: APRIEL },
  {
    name: "Apriel 1.6",
    templates: ["Apriel-1.6-15b-Thinker-fixed"],
    calls: APRIEL,
    start: "[BEGIN FINAL RESPONSE]\n",
    thought: ["", "\n[BEGIN FINAL RESPONSE]\n"],
    thoughtBegins: "Here are my reasoning steps:\n",
  },
  { name: "Mistral", templates: ["unsloth-mistral-Devstral-Small-2507"], calls: MISTRAL },
  {
    name: "Mistral, reasoning",
    templates: ["mistralai-Ministral-3-14B-Reasoning-2512"],
    calls: MISTRAL,
    thought: ["[THINK]", "[/THINK]"],
  },
  {
    name: "Mistral with call ids",
    templates: ["Mistral-Small-3.2-24B-Instruct-2506"],
    calls: {
      single: `[TOOL_CALLS]get_weather[CALL_ID]000000000[ARGS]${WEATHER}`,
      parallel:
        `[TOOL_CALLS]get_weather[CALL_ID]000000000[ARGS]${WEATHER}` +
        `[TOOL_CALLS]get_time[CALL_ID]000000001[ARGS]${ZONE}`,
      write: (calls) =>
        calls
          .map((call, index) => `[TOOL_CALLS]${call.name}[CALL_ID]00000000${index}[ARGS]${json(call.arguments)}`)
          .join(""),
    },
  },
  {
    name: "Mistral Nemo",
    templates: ["mistralai-Mistral-Nemo-Instruct-2407"],
    calls: {
      single: `[TOOL_CALLS][{"name": "get_weather", "arguments": ${WEATHER}, "id": "000000000"}]`,
      parallel:
        `[TOOL_CALLS][{"name": "get_weather", "arguments": ${WEATHER}, "id": "000000000"}, ` +
        `{"name": "get_time", "arguments": ${ZONE}, "id": "000000001"}]`,
      write: (calls) => {
        const one = (call: Call, index: number) =>
          `{"name": "${call.name}", "arguments": ${json(call.arguments)}, "id": "00000000${index}"}`;
        return `[TOOL_CALLS][${calls.map(one).join(", ")}]`;
      },
    },
  },
  {
    name: "Command R7B",
    templates: ["CohereForAI-c4ai-command-r7b-12-2024-tool_use"],
    calls: COHERE,
    text: ["<|START_RESPONSE|>", "<|END_RESPONSE|>"],
    thought: ["<|START_THINKING|>", "<|END_THINKING|>"],
  },
  {
    name: "Cohere 2 MoE",
    templates: ["Cohere2MoE"],
    calls: COHERE,
    start: "<|END_THINKING|>",
    text: ["<|START_TEXT|>", "<|END_TEXT|>"],
    thought: ["", "<|END_THINKING|>"],
  },
  {
    name: "Command R+",
    templates: ["CohereForAI-c4ai-command-r-plus-tool_use"],
    withoutLists: true,
    calls: {
      single: `Action:\n\`\`\`json\n[\n    {\n        "tool_name": "get_weather",\n        "parameters": ${WEATHER}\n    }\n]\`\`\``,
      parallel:
        `Action:\n\`\`\`json\n[\n    {\n        "tool_name": "get_weather",\n        "parameters": ${WEATHER}\n    },\n` +
        `    {\n        "tool_name": "get_time",\n        "parameters": ${ZONE}\n    }\n]\`\`\``,
      write: (calls) => {
        const one = (call: Call) =>
          `    {\n        "tool_name": "${call.name}",\n        "parameters": ${json(call.arguments)}\n    }`;
        return `Action:\n\`\`\`json\n[\n${calls.map(one).join(",\n")}\n]\`\`\``;
      },
    },
  },
  {
    name: "DeepSeek R1",
    templates: ["llama-cpp-deepseek-r1"],
    calls: DEEPSEEK_R1,
    start: "</think>\n\n",
    thought: ["", "\n</think>\n\n"],
  },
  {
    name: "DeepSeek R1 distilled",
    templates: ["deepseek-ai-DeepSeek-R1-Distill-Qwen-32B"],
    calls: DEEPSEEK_R1,
    thought: ["", "\n</think>\n\n"],
  },
  {
    name: "DeepSeek V3.1",
    templates: ["deepseek-ai-DeepSeek-V3.1"],
    calls: {
      single:
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>" +
        `${WEATHER}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
      parallel:
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>" +
        `${WEATHER}<｜tool▁call▁end｜><｜tool▁call▁begin｜>get_time<｜tool▁sep｜>${ZONE}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
      write: (calls) => {
        const one = (call: Call) =>
          `<｜tool▁call▁begin｜>${call.name}<｜tool▁sep｜>${json(call.arguments)}<｜tool▁call▁end｜>`;
        return `<｜tool▁calls▁begin｜>${calls.map(one).join("")}<｜tool▁calls▁end｜>`;
      },
    },
    thought: ["", "</think>"],
  },
  {
    name: "Apertus",
    templates: ["Apertus-8B-Instruct"],
    calls: {
      single: `<|tools_prefix|>[{"get_weather": ${WEATHER}}]<|tools_suffix|>`,
      parallel: `<|tools_prefix|>[{"get_weather": ${WEATHER}}, {"get_time": ${ZONE}}]<|tools_suffix|>`,
      write: (calls) =>
        `<|tools_prefix|>[${calls.map((call) => `{"${call.name}": ${json(call.arguments)}}`).join(", ")}]<|tools_suffix|>`,
    },
    thought: ["<|inner_prefix|>", "<|inner_suffix|>"],
  },
  {
    name: "GigaChat 3",
    templates: ["GigaChat3-10B-A1.8B"],
    slow: true,
    calls: {
      single: `<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "get_weather", "arguments": ${WEATHER}}`,
      write: (calls) =>
        calls.map((call) => `<|message_sep|>\n\nfunction call<|role_sep|>\n${objects([call], "")}`).join(""),
    },
  },
  {
    name: "GigaChat 3.1",
    templates: ["GigaChat3.1-10B-A1.8B"],
    slow: true,
    calls: {
      single: `<|function_call|>{"name": "get_weather", "arguments": ${WEATHER}}`,
      write: (calls) => calls.map((call) => `<|function_call|>${objects([call], "")}`).join(""),
    },
  },
  {
    name: "MiniMax M1",
    templates: ["MiniMax-M1"],
    calls: {
      single: `<tool_calls>\n{"name": "get_weather", "arguments": ${WEATHER}}\n</tool_calls>`,
      parallel:
        `<tool_calls>\n{"name": "get_weather", "arguments": ${WEATHER}}\n` +
        `{"name": "get_time", "arguments": ${ZONE}}\n</tool_calls>`,
      write: (calls) => `<tool_calls>\n${objects(calls, "\n")}\n</tool_calls>`,
    },
  },
  {
    name: "Nemotron Nano 2",
    templates: ["NVIDIA-Nemotron-Nano-v2"],
    calls: {
      single: `<TOOLCALL>[{"name": "get_weather", "arguments": ${WEATHER}}]</TOOLCALL>`,
      parallel:
        `<TOOLCALL>[{"name": "get_weather", "arguments": ${WEATHER}}, ` +
        `{"name": "get_time", "arguments": ${ZONE}}]</TOOLCALL>`,
      write: (calls) => `<TOOLCALL>[${objects(calls, ", ")}]</TOOLCALL>`,
    },
    start: "</think>\n\n",
    thought: ["", "\n</think>\n\n"],
  },
  {
    name: "FireFunction",
    templates: ["fireworks-ai-llama-3-firefunction-v2"],
    calls: {
      single: ` functools[{"name": "get_weather", "arguments": ${WEATHER}}]`,
      parallel: ` functools[{"name": "get_weather", "arguments": ${WEATHER}}, {"name": "get_time", "arguments": ${ZONE}}]`,
      write: (calls) => ` functools[${objects(calls, ", ")}]`,
    },
  },
  {
    name: "Functionary 3.1",
    templates: ["meetkai-functionary-medium-v3.1"],
    calls: {
      single: `<function=get_weather>${WEATHER}</function>`,
      parallel: `<function=get_weather>${WEATHER}</function><function=get_time>${ZONE}</function>`,
      write: (calls) => calls.map((call) => `<function=${call.name}>${json(call.arguments)}</function>`).join(""),
    },
  },
  {
    name: "Functionary 3.2",
    templates: ["meetkai-functionary-medium-v3.2"],
    slow: true,
    calls: {
      single: `get_weather\n${WEATHER}`,
      parallel: `get_weather\n${WEATHER}>>>get_time\n${ZONE}`,
      write: (calls) => calls.map((call) => `${call.name}\n${json(call.arguments)}`).join(">>>"),
    },
    text: ["all\n", ""],
  },
  {
    name: "Granite 3.3",
    templates: ["ibm-granite-granite-3.3-2B-Instruct"],
    calls: {
      single: `<|tool_call|>[{"name": "get_weather", "arguments": ${WEATHER}}]`,
      parallel: `<|tool_call|>[{"name": "get_weather", "arguments": ${WEATHER}}, {"name": "get_time", "arguments": ${ZONE}}]`,
      write: (calls) => `<|tool_call|>[${objects(calls, ", ")}]`,
    },
    textAfterThought: ["<response>", "</response>"],
    thought: ["<think>", "</think>"],
    thinkingArguments: { thinking: true },
  },
  {
    name: "gpt-oss",
    templates: ["openai-gpt-oss-120b"],
    calls: {
      single: `<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>${WEATHER}`,
      write: (calls) =>
        calls
          .map(
            (call) =>
              `<|channel|>commentary to=functions.${call.name} <|constrain|>json<|message|>${json(call.arguments)}`,
          )
          .join("<|call|><|start|>assistant"),
    },
    text: ["<|channel|>final<|message|>", ""],
    thought: ["<|channel|>analysis<|message|>", "<|end|><|start|>assistant"],
  },
  {
    name: "Solar",
    templates: ["upstage-Solar-Open-100B"],
    calls: {
      single: `<|tool_calls|><|tool_call:begin|>call0<|tool_call:name|>get_weather<|tool_call:args|>${WEATHER}<|tool_call:end|>`,
      parallel:
        `<|tool_calls|><|tool_call:begin|>call0<|tool_call:name|>get_weather<|tool_call:args|>${WEATHER}<|tool_call:end|>` +
        `<|tool_call:begin|>call1<|tool_call:name|>get_time<|tool_call:args|>${ZONE}<|tool_call:end|>`,
      write: (calls) => {
        const one = (call: Call, index: number) =>
          `<|tool_call:begin|>call${index}<|tool_call:name|>${call.name}` +
          `<|tool_call:args|>${json(call.arguments)}<|tool_call:end|>`;
        return `<|tool_calls|>${calls.map(one).join("")}`;
      },
    },
    text: ["<|content|>", ""],
    thought: ["<|think|>", "<|end|><|begin|>assistant"],
  },
];
