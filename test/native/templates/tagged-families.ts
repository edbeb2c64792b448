// Families whose models write each argument of a call separately, and those without tools.

import { each, json, tagged, type Call, type CallFormat, type Family } from "./family.ts";

/** Writes <function=name> with <parameter=key> inside `<tool_call>`, values on separate lines. */
const parameters = (call: Call) =>
  `<tool_call>\n<function=${call.name}>\n` +
  each(call, (key, value) => `<parameter=${key}>\n${tagged(value)}\n</parameter>\n`) +
  "</function>\n</tool_call>";

const QWEN_CODER: CallFormat = {
  single:
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nZürich\n</parameter>\n<parameter=days>\n3\n</parameter>\n" +
    "</function>\n</tool_call>",
  parallel:
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nZürich\n</parameter>\n<parameter=days>\n3\n</parameter>\n" +
    "</function>\n</tool_call>\n" +
    "<tool_call>\n<function=get_time>\n<parameter=zone>\nEurope/Oslo\n</parameter>\n</function>\n</tool_call>",
  write: (calls) => calls.map(parameters).join("\n"),
};

/** GLM's keys and values, without white space between the tags. */
const GLM_TIGHT: CallFormat = {
  single:
    "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Zürich</arg_value>" +
    "<arg_key>days</arg_key><arg_value>3</arg_value></tool_call>",
  parallel:
    "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Zürich</arg_value>" +
    "<arg_key>days</arg_key><arg_value>3</arg_value></tool_call>" +
    "<tool_call>get_time<arg_key>zone</arg_key><arg_value>Europe/Oslo</arg_value></tool_call>",
  write: (calls) =>
    calls
      .map(
        (call) =>
          `<tool_call>${call.name}` +
          each(call, (key, value) => `<arg_key>${key}</arg_key><arg_value>${tagged(value)}</arg_value>`) +
          "</tool_call>",
      )
      .join(""),
};

/** GLM's keys and values on separate lines. */
const GLM_LINES: CallFormat = {
  single:
    "\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Zürich</arg_value>\n" +
    "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
  parallel:
    "\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Zürich</arg_value>\n" +
    "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>\n" +
    "<tool_call>get_time\n<arg_key>zone</arg_key>\n<arg_value>Europe/Oslo</arg_value>\n</tool_call>",
  write: (calls) =>
    calls
      .map(
        (call) =>
          `\n<tool_call>${call.name}\n` +
          each(call, (key, value) => `<arg_key>${key}</arg_key>\n<arg_value>${tagged(value)}</arg_value>\n`) +
          "</tool_call>",
      )
      .join(""),
};

const LFM2: CallFormat = {
  single: `<|tool_call_start|>[get_weather(city="Zürich", days=3)]<|tool_call_end|>`,
  parallel: `<|tool_call_start|>[get_weather(city="Zürich", days=3), get_time(zone="Europe/Oslo")]<|tool_call_end|>`,
  write: (calls) => {
    const one = (call: Call) => `${call.name}(${each(call, (key, value) => `${key}=${json(value)}`, ", ")})`;
    return `<|tool_call_start|>[${calls.map(one).join(", ")}]<|tool_call_end|>`;
  },
};

/** Writes DeepSeek's markup; `block` is the tag around the calls. */
const dsml = (block: string): CallFormat => ({
  single:
    `\n\n<｜DSML｜${block}>\n<｜DSML｜invoke name="get_weather">\n` +
    `<｜DSML｜parameter name="city" string="true">Zürich</｜DSML｜parameter>\n` +
    `<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜${block}>`,
  parallel:
    `\n\n<｜DSML｜${block}>\n<｜DSML｜invoke name="get_weather">\n` +
    `<｜DSML｜parameter name="city" string="true">Zürich</｜DSML｜parameter>\n` +
    `<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n` +
    `<｜DSML｜invoke name="get_time">\n` +
    `<｜DSML｜parameter name="zone" string="true">Europe/Oslo</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜${block}>`,
  write: (calls) => {
    const argument = (key: string, value: unknown) =>
      `<｜DSML｜parameter name="${key}" string="${typeof value === "string"}">${tagged(value)}</｜DSML｜parameter>\n`;
    const one = (call: Call) => `<｜DSML｜invoke name="${call.name}">\n${each(call, argument)}</｜DSML｜invoke>\n`;
    return `\n\n<｜DSML｜${block}>\n${calls.map(one).join("")}</｜DSML｜${block}>`;
  },
});

/** Writes Gemma's dictionaries: keys without quotes, strings between tokens. */
function gemma(value: unknown): string {
  if (typeof value === "string") return `<|"|>${value}<|"|>`;
  if (Array.isArray(value)) return `[${value.map(gemma).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, member]) => `${key}:${gemma(member)}`)
    .join(",")}}`;
}

/** Returns the type that Kimi K3 writes for an argument. */
function kimiType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return value === null ? "null" : typeof value;
}

/** Writes objects and lists as nested tags, as MiniMax M3 does. */
function minimax(value: unknown): string {
  const tag = (name: string, inner: unknown) => `]<]minimax[>[<${name}>${minimax(inner)}]<]minimax[>[</${name}>`;
  if (Array.isArray(value)) return value.map((item) => tag("item", item)).join("");
  if (typeof value !== "object" || value === null) return tagged(value);
  return Object.entries(value)
    .map(([key, member]) => tag(key, member))
    .join("");
}

export const taggedFamilies: readonly Family[] = [
  { name: "Qwen Coder", templates: ["Qwen3-Coder"], calls: QWEN_CODER },
  { name: "Qwen 3.5", templates: ["Qwen3.5-4B"], calls: QWEN_CODER, thought: ["", "\n</think>\n\n"] },
  {
    name: "Nemotron 3 Nano",
    templates: ["NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"],
    calls: QWEN_CODER,
    thought: ["", "\n</think>\n"],
  },
  {
    name: "Step 3.5",
    templates: ["StepFun3.5-Flash"],
    calls: QWEN_CODER,
    start: "\n</think>\n",
    thought: ["", "\n</think>\n"],
  },
  {
    name: "Seed",
    templates: ["ByteDance-Seed-OSS"],
    calls: {
      single:
        "<seed:tool_call>\n<function=get_weather>\n<parameter=city>Zürich</parameter>\n<parameter=days>3</parameter>\n" +
        "</function>\n</seed:tool_call>",
      parallel:
        "<seed:tool_call>\n<function=get_weather>\n<parameter=city>Zürich</parameter>\n<parameter=days>3</parameter>\n" +
        "</function>\n</seed:tool_call>\n" +
        "<seed:tool_call>\n<function=get_time>\n<parameter=zone>Europe/Oslo</parameter>\n</function>\n</seed:tool_call>",
      write: (calls) =>
        calls
          .map(
            (call) =>
              `<seed:tool_call>\n<function=${call.name}>\n` +
              each(call, (key, value) => `<parameter=${key}>${tagged(value)}</parameter>\n`) +
              "</function>\n</seed:tool_call>",
          )
          .join("\n"),
    },
    thought: ["<seed:think>", "</seed:think>\n"],
  },
  {
    name: "GLM 4.6",
    templates: ["GLM-4.6"],
    calls: GLM_LINES,
    text: ["\n", ""],
    thought: ["\n<think>", "</think>"],
  },
  {
    name: "GLM 4.7",
    templates: ["GLM-4.7-Flash", "Spark2.5", "poolside-Laguna-S-2.1"],
    calls: GLM_TIGHT,
    thought: ["", "</think>"],
  },
  {
    name: "Laguna XS",
    templates: ["poolside-Laguna-XS-2.1", "poolside-Laguna-XS.2"],
    calls: GLM_LINES,
    text: ["\n", ""],
    thought: ["\n", "\n</think>"],
  },
  {
    name: "Ling 3",
    templates: ["inclusionai-ling-3.0-flash"],
    calls: {
      single:
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Zürich</arg_value>" +
        "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
      parallel:
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Zürich</arg_value>" +
        "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>\n" +
        "<tool_call>get_time\n<arg_key>zone</arg_key>\n<arg_value>Europe/Oslo</arg_value>\n</tool_call>",
      write: (calls) =>
        calls
          .map(
            (call) =>
              `<tool_call>${call.name}\n` +
              each(call, (key, value) => `<arg_key>${key}</arg_key>\n<arg_value>${tagged(value)}</arg_value>`) +
              "\n</tool_call>",
          )
          .join("\n"),
    },
    thought: ["", "</think>"],
  },
  {
    name: "Hunyuan 3",
    templates: ["tencent-Hy3"],
    calls: {
      single:
        "<tool_calls:opensource>\n<tool_call:opensource>get_weather<tool_sep:opensource>\n" +
        "<arg_key:opensource>city</arg_key:opensource>\n<arg_value:opensource>Zürich</arg_value:opensource>\n" +
        "<arg_key:opensource>days</arg_key:opensource>\n<arg_value:opensource>3</arg_value:opensource>\n" +
        "</tool_call:opensource>\n</tool_calls:opensource>",
      parallel:
        "<tool_calls:opensource>\n<tool_call:opensource>get_weather<tool_sep:opensource>\n" +
        "<arg_key:opensource>city</arg_key:opensource>\n<arg_value:opensource>Zürich</arg_value:opensource>\n" +
        "<arg_key:opensource>days</arg_key:opensource>\n<arg_value:opensource>3</arg_value:opensource>\n" +
        "</tool_call:opensource>\n<tool_call:opensource>get_time<tool_sep:opensource>\n" +
        "<arg_key:opensource>zone</arg_key:opensource>\n<arg_value:opensource>Europe/Oslo</arg_value:opensource>\n" +
        "</tool_call:opensource>\n</tool_calls:opensource>",
      write: (calls) => {
        const argument = (key: string, value: unknown) =>
          `<arg_key:opensource>${key}</arg_key:opensource>\n` +
          `<arg_value:opensource>${tagged(value)}</arg_value:opensource>\n`;
        const one = (call: Call) =>
          `<tool_call:opensource>${call.name}<tool_sep:opensource>\n${each(call, argument)}</tool_call:opensource>\n`;
        return `<tool_calls:opensource>\n${calls.map(one).join("")}</tool_calls:opensource>`;
      },
    },
    thought: ["", "</think:opensource>"],
    thinkingArguments: { reasoning_effort: "high" },
  },
  {
    name: "MiniMax M2",
    templates: ["MiniMax-M2"],
    calls: {
      single:
        `<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Zürich</parameter>\n` +
        `<parameter name="days">3</parameter>\n</invoke>\n</minimax:tool_call>`,
      parallel:
        `<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Zürich</parameter>\n` +
        `<parameter name="days">3</parameter>\n</invoke>\n` +
        `<invoke name="get_time">\n<parameter name="zone">Europe/Oslo</parameter>\n</invoke>\n</minimax:tool_call>`,
      write: (calls) => {
        const argument = (key: string, value: unknown) => `<parameter name="${key}">${tagged(value)}</parameter>\n`;
        const one = (call: Call) => `<invoke name="${call.name}">\n${each(call, argument)}</invoke>\n`;
        return `<minimax:tool_call>\n${calls.map(one).join("")}</minimax:tool_call>`;
      },
    },
    start: "\n</think>\n\n",
    thought: ["", "\n</think>\n\n"],
  },
  {
    name: "MiniMax M3",
    templates: ["MiniMax-M3"],
    calls: {
      single:
        `]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="get_weather">]<]minimax[>[<city>Zürich]<]minimax[>[</city>` +
        "]<]minimax[>[<days>3]<]minimax[>[</days>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
      parallel:
        `]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="get_weather">]<]minimax[>[<city>Zürich]<]minimax[>[</city>` +
        "]<]minimax[>[<days>3]<]minimax[>[</days>]<]minimax[>[</invoke>\n" +
        `]<]minimax[>[<invoke name="get_time">]<]minimax[>[<zone>Europe/Oslo]<]minimax[>[</zone>` +
        "]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
      write: (calls) => {
        const one = (call: Call) =>
          `]<]minimax[>[<invoke name="${call.name}">${minimax(call.arguments)}]<]minimax[>[</invoke>\n`;
        return `]<]minimax[>[<tool_call>\n${calls.map(one).join("")}]<]minimax[>[</tool_call>`;
      },
    },
    start: "</mm:think>",
    thought: ["<mm:think>", "</mm:think>"],
  },
  {
    name: "DeepSeek V3.2",
    templates: ["deepseek-ai-DeepSeek-V3.2"],
    calls: dsml("function_calls"),
    thought: ["", "</think>"],
  },
  {
    name: "DeepSeek V4",
    templates: ["deepseek-ai-DeepSeek-V4", "deepseek-ai-DeepSeek-V4-Flash-0731"],
    calls: dsml("tool_calls"),
    thought: ["", "</think>"],
  },
  {
    name: "Kimi K3",
    templates: ["Kimi-K3"],
    slow: true,
    calls: {
      single:
        `<|open|>response<|sep|><|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|>` +
        `<|open|>argument key="city" type="string"<|sep|>Zürich<|close|>argument<|sep|>` +
        `<|open|>argument key="days" type="number"<|sep|>3<|close|>argument<|sep|>` +
        "<|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>",
      parallel:
        `<|open|>response<|sep|><|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|>` +
        `<|open|>argument key="city" type="string"<|sep|>Zürich<|close|>argument<|sep|>` +
        `<|open|>argument key="days" type="number"<|sep|>3<|close|>argument<|sep|><|close|>call<|sep|>` +
        `<|open|>call tool="get_time" index="2"<|sep|>` +
        `<|open|>argument key="zone" type="string"<|sep|>Europe/Oslo<|close|>argument<|sep|>` +
        "<|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>",
      write: (calls) => {
        const argument = (key: string, value: unknown) =>
          `<|open|>argument key="${key}" type="${kimiType(value)}"<|sep|>${tagged(value)}<|close|>argument<|sep|>`;
        const one = (call: Call, index: number) =>
          `<|open|>call tool="${call.name}" index="${index + 1}"<|sep|>${each(call, argument)}<|close|>call<|sep|>`;
        return (
          `<|open|>response<|sep|><|close|>response<|sep|><|open|>tools<|sep|>${calls.map(one).join("")}` +
          "<|close|>tools<|sep|><|close|>message<|sep|>"
        );
      },
    },
    start: "<|close|>think<|sep|>",
    text: ["<|open|>response<|sep|>", "<|close|>response<|sep|><|close|>message<|sep|>"],
    thought: ["", "<|close|>think<|sep|>"],
  },
  { name: "LFM 2", templates: ["LFM2-8B-A1B", "LFM2.5-Instruct"], calls: LFM2 },
  { name: "LFM 2.5, reasoning", templates: ["LFM2.5-8B-A1B"], calls: LFM2, thought: ["<think>", "</think>"] },
  {
    name: "Gemma 4",
    templates: ["google-gemma-4-31B-it", "google-gemma-4-31B-it-interleaved"],
    calls: {
      single: `<|tool_call>call:get_weather{city:<|"|>Zürich<|"|>,days:3}<tool_call|>`,
      parallel:
        `<|tool_call>call:get_weather{city:<|"|>Zürich<|"|>,days:3}<tool_call|>` +
        `<|tool_call>call:get_time{zone:<|"|>Europe/Oslo<|"|>}<tool_call|>`,
      write: (calls) =>
        calls.map((call) => `<|tool_call>call:${call.name}${gemma(call.arguments)}<tool_call|>`).join(""),
    },
    thought: ["<|channel>thought\n", "<channel|>"],
  },
  {
    name: "MiniCPM 5",
    templates: ["openbmb-MiniCPM5-1B"],
    calls: {
      single: `<function name="get_weather"><param name="city">Zürich</param><param name="days">3</param></function>`,
      parallel:
        `<function name="get_weather"><param name="city">Zürich</param><param name="days">3</param></function>\n` +
        `<function name="get_time"><param name="zone">Europe/Oslo</param></function>`,
      write: (calls) => {
        const cdata = (value: unknown) =>
          typeof value === "string" && /[<>&]/.test(value) ? `<![CDATA[${value}]]>` : tagged(value);
        const argument = (key: string, value: unknown) => `<param name="${key}">${cdata(value)}</param>`;
        return calls.map((call) => `<function name="${call.name}">${each(call, argument)}</function>`).join("\n");
      },
    },
    thought: ["", "\n</think>\n\n"],
  },
  {
    name: "Muse",
    templates: ["muse-glimmer"],
    calls: {
      single:
        ` to=get_weather<|message|><atem:function_calls>\n<atem:invoke name="get_weather">\n` +
        `<atem:parameter name="city">Zürich</atem:parameter>\n<atem:parameter name="days">3</atem:parameter>\n` +
        "</atem:invoke>\n</atem:function_calls>",
      parallel:
        ` to=get_weather<|message|><atem:function_calls>\n<atem:invoke name="get_weather">\n` +
        `<atem:parameter name="city">Zürich</atem:parameter>\n<atem:parameter name="days">3</atem:parameter>\n` +
        "</atem:invoke>\n</atem:function_calls><|eom|><|start|>assistant" +
        ` to=get_time<|message|><atem:function_calls>\n<atem:invoke name="get_time">\n` +
        `<atem:parameter name="zone">Europe/Oslo</atem:parameter>\n</atem:invoke>\n</atem:function_calls>`,
      write: (calls) => {
        const argument = (key: string, value: unknown) =>
          `<atem:parameter name="${key}">${tagged(value)}</atem:parameter>\n`;
        const one = (call: Call) =>
          ` to=${call.name}<|message|><atem:function_calls>\n<atem:invoke name="${call.name}">\n` +
          `${each(call, argument)}</atem:invoke>\n</atem:function_calls>`;
        return calls.map(one).join("<|eom|><|start|>assistant");
      },
    },
    text: [" to=user<|message|>", ""],
    thought: [" to=self<|message|>", "<|eom|><|start|>assistant"],
  },
  {
    name: "DeepSeek R1 distilled, no tools",
    templates: ["deepseek-ai-DeepSeek-R1-Distill-Llama-8B"],
    start: "</think>\n\n",
    thought: ["", "\n</think>\n\n"],
  },
  { name: "SmolLM 3", templates: ["HuggingFaceTB-SmolLM3-3B"], thought: ["<think>\n", "\n</think>\n"] },
  { name: "RWKV", templates: ["llama-cpp-rwkv-world"], thought: ["", "</think>"] },
  { name: "text alone", templates: ["google-gemma-2-2b-it", "microsoft-Phi-3.5-mini-instruct"] },
];
