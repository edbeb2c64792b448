// The requests for both servers: each row is one set of sampling fields, tested with several prompts and seeds.

export type Fields = Readonly<Record<string, unknown>>;

export interface Row {
  readonly name: string;
  readonly fields: Fields;
  /** Fields for llama-server instead of `fields`, when names or values differ. */
  readonly theirs?: Fields;
  /** Names of prompts; by default all conversations. */
  readonly prompts?: readonly string[];
  /** By default `SEEDS` when anything is random, otherwise one seed. */
  readonly seeds?: readonly number[];
  /** Why only texts are compared, without log probabilities. */
  readonly textOnly?: string;
  /** Why the answers may differ: a decision, not a bug. */
  readonly onPurpose?: string;
}

export const SEEDS: readonly number[] = [1, 2, 3];

/** A short conversation, an open one, one with repetition, and one whose prompt exceeds every penalty window. */
export const PROMPTS: Readonly<Record<string, readonly { readonly role: string; readonly content: string }[]>> = {
  fact: [{ role: "user", content: "What is the capital of France?" }],
  story: [{ role: "user", content: "Tell me a story." }],
  count: [{ role: "user", content: "Count from 1 to 20." }],
  long: [
    { role: "system", content: "You are a helpful assistant. Be brief." },
    { role: "user", content: "My name is Anna. I live in Paris and I work as a teacher." },
    { role: "assistant", content: "Nice to meet you, Anna! What can I do for you?" },
    { role: "user", content: "What is the capital of Italy?" },
    { role: "assistant", content: "The capital of Italy is Rome." },
    { role: "user", content: "Count from 1 to 10." },
    { role: "assistant", content: "1, 2, 3, 4, 5, 6, 7, 8, 9, 10" },
    { role: "user", content: "Tell me a story about a red dog and a red boat." },
  ],
  person: [{ role: "user", content: "Anna Smith is 31 years old and lives in Paris." }],
  sum: [{ role: "user", content: "What is 17 + 25?" }],
  weather: [{ role: "user", content: "What is the weather in Paris and Rome?" }],
};

const CONVERSATIONS = ["fact", "story", "count", "long"];

export const promptsOf = (row: Row): readonly string[] => row.prompts ?? CONVERSATIONS;
export const seedsOf = (row: Row): readonly number[] => row.seeds ?? (row.fields["temperature"] === 0 ? [1] : SEEDS);

const PERSON = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" }, city: { type: "string" } },
  required: ["name", "age", "city"],
  additionalProperties: false,
};
const CHOICES = 'root ::= ("red" | "blue") ("," root)?';
const schema = (content: object) => ({ type: "json_schema", json_schema: { name: "data", schema: content } });

const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Get the current weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

/** llama-server's equivalent of reasoning_effort. */
const THINKING = { chat_template_kwargs: { enable_thinking: true } };

/** Returns adapters with these scales, in the order of their numbers. */
const adapters = (...scales: readonly number[]) => ({ lora: scales.map((scale, id) => ({ id, scale })) });

const ANSWER_ONLY = "svc gives log probabilities of the answer, llama-server also those of the reasoning before it";

const greedy = { temperature: 0 };
/** Temperature only, so that a row shows the effect of its own field. */
const open = { temperature: 1, top_k: 0, top_p: 1, min_p: 0 };

const row = (name: string, fields: Fields, more: Partial<Row> = {}): Row => ({ name, fields, ...more });
const repetition = (value: number, more: Fields = {}) => ({
  fields: { ...more, repetition_penalty: value },
  theirs: { ...more, repeat_penalty: value },
});

const GREEDY_IS_GREEDY =
  "at temperature 0 svc takes the most probable token, whatever else is set; llama-server truncates first";

export const MATRIX: readonly Row[] = [
  row("greedy", greedy),
  row("defaults", {}),
  row("defaults, 8 more seeds", {}, { prompts: ["story"], seeds: [4, 5, 6, 7, 8, 9, 10, 4_294_967_294] }),
  row("temperature 0.5", { ...open, temperature: 0.5 }),
  row("temperature 1", open),
  row("temperature 1.5", { ...open, temperature: 1.5 }),
  row("temperature 0.01", { temperature: 0.01 }),
  row("temperature 5", { temperature: 5 }),
  row("top_k 1", { ...open, top_k: 1 }),
  row("top_k 5", { ...open, top_k: 5 }),
  row("top_k -1", { ...open, top_k: -1 }),
  row("top_k 1000000", { ...open, top_k: 1_000_000 }),
  row("top_p 0.5", { ...open, top_p: 0.5 }),
  row("top_p 0.9, temperature 1.5", { ...open, top_p: 0.9, temperature: 1.5 }),
  row("top_p 0", { ...open, top_p: 0 }),
  row("min_p 0.2", { ...open, min_p: 0.2 }),
  row("min_p 1", { ...open, min_p: 1 }),
  row("typical_p 0", { ...open, typical_p: 0 }),
  row("typical_p 0.5", { ...open, typical_p: 0.5 }),
  row("typical_p 0.9", { ...open, typical_p: 0.9 }),
  row("top_n_sigma 0", { ...open, top_n_sigma: 0 }),
  row("top_n_sigma 1", { ...open, top_n_sigma: 1 }),
  row("top_n_sigma 2, temperature 1.5", { ...open, top_n_sigma: 2, temperature: 1.5 }),
  row("dynatemp 0.5", { ...open, dynatemp_range: 0.5 }),
  row("dynatemp 1, exponent 2", { ...open, dynatemp_range: 1, dynatemp_exponent: 2 }),
  row("xtc 1, threshold 0.1", { ...open, xtc_probability: 1, xtc_threshold: 0.1 }),
  row("xtc 0.5, threshold 0.2", { ...open, xtc_probability: 0.5, xtc_threshold: 0.2 }),
  row("repetition_penalty 1.3", {}, repetition(1.3, open)),
  row("repetition_penalty 1.3, greedy", {}, repetition(1.3, greedy)),
  row("repetition_penalty 0.8, greedy", {}, repetition(0.8, greedy)),
  row("repeat_penalty (same name) 1.3", { ...open, repeat_penalty: 1.3 }),
  row("repeat_last_n 4", {}, repetition(1.5, { ...greedy, repeat_last_n: 4 })),
  row("repeat_last_n 0", {}, repetition(1.5, { ...greedy, repeat_last_n: 0 })),
  row("repeat_last_n 500", {}, repetition(1.2, { ...greedy, repeat_last_n: 500 })),
  row(
    "repeat_last_n -1",
    {},
    {
      fields: { ...greedy, repetition_penalty: 1.2, repeat_last_n: -1 },
      // llama-server refuses -1; 4096 is the whole context.
      theirs: { ...greedy, repeat_penalty: 1.2, repeat_last_n: 4096 },
    },
  ),
  row("presence_penalty 1.5", { ...open, presence_penalty: 1.5 }),
  row("presence_penalty 2, greedy", { ...greedy, presence_penalty: 2 }),
  row("presence_penalty -2, greedy", { ...greedy, presence_penalty: -2 }),
  row(
    "frequency_penalty 1.5, greedy",
    { ...greedy, frequency_penalty: 1.5 },
    {
      onPurpose: "svc accepts frequency_penalty without effect, as its convention deprecates it",
    },
  ),
  row("frequency_penalty 0", { ...open, frequency_penalty: 0 }),
  row("mirostat 1", { temperature: 1, mirostat: 1 }),
  row("mirostat 1, tau 2, eta 0.3", { temperature: 0.8, mirostat: 1, mirostat_tau: 2, mirostat_eta: 0.3 }),
  row("mirostat 2", { temperature: 1, mirostat: 2 }),
  row("mirostat 2, tau 2, eta 0.3", { temperature: 0.8, mirostat: 2, mirostat_tau: 2, mirostat_eta: 0.3 }),
  row("mirostat 2, temperature 0", { temperature: 0, mirostat: 2 }),
  row("dry 0.8", { ...open, dry_multiplier: 0.8 }),
  row("dry 0.8, greedy", { ...greedy, dry_multiplier: 0.8 }),
  row("dry 2, base 1.2, length 1, last 500", {
    ...greedy,
    dry_multiplier: 2,
    dry_base: 1.2,
    dry_allowed_length: 1,
    dry_penalty_last_n: 500,
  }),
  row(
    "dry_penalty_last_n -1",
    {},
    {
      fields: { ...greedy, dry_multiplier: 2, dry_allowed_length: 1, dry_penalty_last_n: -1 },
      theirs: { ...greedy, dry_multiplier: 2, dry_allowed_length: 1, dry_penalty_last_n: 4096 },
    },
  ),
  row("dry, breakers", { ...greedy, dry_multiplier: 2, dry_allowed_length: 1, dry_sequence_breakers: [",", " a"] }),
  row("everything at once", {
    temperature: 1.2,
    top_k: 50,
    top_p: 0.95,
    min_p: 0.02,
    typical_p: 0.98,
    top_n_sigma: 3,
    xtc_probability: 0.3,
    xtc_threshold: 0.15,
    dynatemp_range: 0.3,
    repeat_penalty: 1.1,
    presence_penalty: 0.3,
    dry_multiplier: 0.5,
  }),
  // 386 is "The", 76 "L".
  row("logit_bias, banned", { ...greedy, logit_bias: { "386": -100 } }),
  row("logit_bias, -5 and 3", { ...open, logit_bias: { "386": -5, "76": 3 } }),
  row("logit_bias, forced", { ...greedy, logit_bias: { "386": 100 } }),
  row("ignore_eos, greedy", { ...greedy, ignore_eos: true }),
  row("ignore_eos", { ...open, ignore_eos: true }),
  row(
    "stop",
    { ...greedy, stop: [" is", "5,"] },
    {
      textOnly:
        "llama-server lists a token together with the text that a half-matched stop sequence held back before it",
    },
  ),
  row("lora 1", { ...greedy, ...adapters(1) }),
  row("lora 0.5", { ...greedy, ...adapters(0.5) }),
  row("lora -1", { ...greedy, ...adapters(-1) }),
  row("lora 1 and 1", { ...greedy, ...adapters(1, 1) }),
  row("lora 0 and 0.7, temperature 1", { ...open, ...adapters(0, 0.7) }),
  row("lora off", { ...greedy, ...adapters(0, 0) }),
  row("max_tokens 1", { ...open, max_tokens: 1 }),
  row("grammar, greedy", { ...greedy, grammar: CHOICES }),
  row("grammar", { ...open, grammar: CHOICES }),
  row("grammar, mirostat 2", { temperature: 1, mirostat: 2, grammar: CHOICES }),
  row("json_schema, greedy", { ...greedy, response_format: schema(PERSON) }, { prompts: ["person", "fact"] }),
  row("json_schema", { ...open, response_format: schema(PERSON) }, { prompts: ["person", "fact"] }),
  row(
    "json_schema, penalties",
    { temperature: 1, repeat_penalty: 1.2, response_format: schema(PERSON) },
    {
      prompts: ["person"],
    },
  ),
  row("json_object", { temperature: 0.7, response_format: { type: "json_object" } }, { prompts: ["person", "fact"] }),
  row("tools, auto", { ...greedy, tools: [WEATHER] }, { prompts: ["weather", "fact"] }),
  row("tools", { ...open, tools: [WEATHER] }, { prompts: ["weather", "fact"] }),
  row(
    "tools, parallel_tool_calls false",
    { ...greedy, tools: [WEATHER], parallel_tool_calls: false },
    {
      prompts: ["weather"],
      onPurpose: "svc ends the answer after one call; llama-server lets the model write a second one",
    },
  ),
  row(
    "reasoning",
    {},
    {
      fields: { ...greedy, reasoning_effort: "high" },
      theirs: { ...greedy, ...THINKING },
      prompts: ["sum", "fact", "person"],
      textOnly: ANSWER_ONLY,
    },
  ),
  row(
    "reasoning, json_schema",
    {},
    {
      fields: { ...open, reasoning_effort: "high", response_format: schema(PERSON) },
      theirs: { ...open, ...THINKING, response_format: schema(PERSON) },
      prompts: ["person"],
      textOnly: ANSWER_ONLY,
    },
  ),
  row(
    "reasoning, tools",
    {},
    {
      fields: { ...greedy, reasoning_effort: "high", tools: [WEATHER] },
      theirs: { ...greedy, ...THINKING, tools: [WEATHER] },
      prompts: ["weather"],
      textOnly: ANSWER_ONLY,
    },
  ),
  row(
    "tools, required",
    { ...greedy, tools: [WEATHER], tool_choice: "required" },
    {
      prompts: ["weather", "fact"],
      onPurpose: "svc lets a forced call begin at once; llama-server allows text before it",
    },
  ),
  row("typical_p 0.2, temperature 0", { ...greedy, typical_p: 0.2 }, { onPurpose: GREEDY_IS_GREEDY }),
  row("xtc 1, temperature 0", { ...greedy, xtc_probability: 1, xtc_threshold: 0.05 }, { onPurpose: GREEDY_IS_GREEDY }),
  row(
    "dynatemp 1, temperature 0",
    { ...greedy, dynatemp_range: 1 },
    {
      onPurpose: "at temperature 0 svc is greedy; llama-server moves the temperature between 0 and the range",
    },
  ),
];
