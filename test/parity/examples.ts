// The examples of llama-server's README on both servers: every field in its answers must be in svc's under the same
// name and of the same type. The texts depend on sampling, which other rows compare.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LaunchPlan } from "../bench/server-under-test.ts";
import { formOf, lacking, type Form } from "./form.ts";
import { CHAT_PLANS, ComparedServer } from "./servers.ts";

interface Example {
  readonly route: string;
  readonly body?: object;
  /** Why svc's answer differs. */
  readonly onPurpose?: string;
}

export interface ExampleResult {
  readonly name: string;
  /** Number of fields in llama-server's answer. */
  readonly fields: number;
  /** The differences, with their reason if there is one. */
  readonly differences: readonly { readonly text: string; readonly reason: string | undefined }[];
}

const limerick = "Write a limerick about python exceptions";
const hello = [{ role: "user", content: "Hello!" }];
const steps = { prompt: "Building a website can be done in 10 simple steps:", n_predict: 16 };

/** Fields of llama-server's answers in which svc differs, with the reason. */
const ON_PURPOSE: readonly (readonly [field: RegExp, reason: string])[] = [
  [/generation_settings\.(params\.)?\w+$/, "how llama-server works inside, and settings that svc refuses by name"],
  [/^models\[\]\.\w+$/, "llama-server leaves them empty; svc says what it knows, under names of its own"],
  [/^data\[\]\.(aliases|tags|meta\.\w+)$/, "only what the operator named, and what the file's header says"],
  [
    /(reasoning_content|thinking|signature|output\[\]\.(summary|encrypted_content))$/,
    "llama-server has svc-mini think where svc leaves it to the chat template",
  ],
  [/^completed_at$/, "null where the answer is incomplete, as in OpenAI's API"],
  [/^\[\]\.speculative$/, "requests run in no fixed slot here"],
  [
    /^(model_ftype|media_marker|endpoint_\w+|ui\w*|chat_template_caps|is_sleeping|cors_\w+|modalities\.video)$/,
    "of its program",
  ],
];

const BIASED_TEXT = "a text is several tokens, whose ids POST /tokenize gives: svc takes ids";

const EXAMPLES: readonly Example[] = [
  { route: "GET /health" },
  { route: "GET /v1/health" },
  { route: "GET /v1/models" },
  { route: "GET /props" },
  { route: "GET /slots" },
  { route: "GET /slots?fail_on_no_slot=1" },
  { route: "GET /lora-adapters" },
  { route: "POST /completion", body: steps },
  { route: "POST /completion", body: { ...steps, n_probs: 2, return_tokens: true } },
  { route: "POST /completion", body: { prompt: ["a", [1, "b"], { prompt_string: "c" }], n_predict: 2 } },
  { route: "POST /completion", body: { ...steps, stream: true, return_progress: true, timings_per_token: true } },
  {
    route: "POST /completion",
    body: { ...steps, response_fields: ["content", "generation_settings/n_predict", "timings/prompt_n"] },
  },
  {
    route: "POST /completion",
    body: {
      ...steps,
      logit_bias: [
        [300, 1.0],
        [301, false],
      ],
    },
  },
  { route: "POST /completion", body: { ...steps, logit_bias: { 300: 1.0 } } },
  { route: "POST /completion", body: { ...steps, logit_bias: [["Hello, World!", -0.5]] }, onPurpose: BIASED_TEXT },
  { route: "POST /completion", body: { ...steps, logit_bias: { "Hello, World!": -0.5 } }, onPurpose: BIASED_TEXT },
  { route: "POST /v1/completions", body: { prompt: steps.prompt, max_tokens: 16 } },
  {
    route: "POST /v1/completions",
    body: { prompt: steps.prompt, max_tokens: 16, stream: true },
    onPurpose: "a stream of raw completions has usage where stream_options.include_usage is true, as in OpenAI's API",
  },
  { route: "POST /tokenize", body: { content: "Hello world!" } },
  { route: "POST /tokenize", body: { content: "á", with_pieces: true } },
  { route: "POST /detokenize", body: { tokens: [300, 301] } },
  { route: "POST /apply-template", body: { messages: hello } },
  { route: "POST /v1/chat/completions", body: { messages: [{ role: "user", content: limerick }], max_tokens: 16 } },
  {
    route: "POST /v1/chat/completions",
    body: { messages: [{ role: "user", content: limerick }], max_tokens: 16, stream: true },
  },
  {
    route: "POST /v1/chat/completions",
    body: {
      messages: hello,
      max_tokens: 30,
      response_format: { type: "json_object", schema: { type: "string", minLength: 10, maxLength: 20 } },
    },
  },
  { route: "POST /v1/chat/completions/input_tokens", body: { messages: hello } },
  { route: "POST /v1/responses", body: { input: limerick, instructions: "Be brief.", max_output_tokens: 16 } },
  { route: "POST /v1/responses/input_tokens", body: { input: limerick } },
  { route: "POST /v1/messages", body: { model: "gpt-4", max_tokens: 16, system: "Be kind.", messages: hello } },
  { route: "POST /v1/messages/count_tokens", body: { model: "gpt-4", messages: hello } },
  { route: "POST /lora-adapters", body: [{ id: 0, scale: 0 }] },
  { route: "POST /completion", body: { ...steps, id_slot: 0, cache_prompt: true } },
  { route: "POST /slots/0?action=save", body: { filename: "slot.bin" } },
  { route: "POST /slots/0?action=restore", body: { filename: "slot.bin" } },
  { route: "POST /slots/0?action=erase", body: {} },
];

/** Sends every example whose route contains `name` to both servers. Throws when a server does not start. */
export async function compareExamples(name: string): Promise<ExampleResult[]> {
  const examples = EXAMPLES.filter(({ route }) => route.includes(name));
  if (examples.length === 0) return [];
  const folder = mkdtempSync(join(tmpdir(), "svc-parity-"));
  const withSlots = (plan: LaunchPlan, ...without: readonly string[]): LaunchPlan => ({
    ...plan,
    command: [
      ...plan.command.filter((one) => !without.includes(one)),
      "--slot-save-path",
      mkdtempSync(join(folder, plan.side)),
    ],
  });
  const svc = await ComparedServer.start(withSlots(CHAT_PLANS.svc, "--no-prefix-cache"));
  const other = await ComparedServer.start(withSlots(CHAT_PLANS["llama-server"]));
  try {
    const results: ExampleResult[] = [];
    for (const example of examples) {
      results.push(compare(example, await answer(svc, example), await answer(other, example)));
    }
    return results;
  } finally {
    await Promise.all([svc.stop(), other.stop()]);
    rmSync(folder, { recursive: true });
  }
}

interface Answered {
  readonly status: number;
  readonly form: Form;
}

async function answer(server: ComparedServer, { route, body }: Example): Promise<Answered> {
  const [method = "", path = ""] = route.split(" ");
  const { status, text } = await server.fetch(path, method, body);
  return { status, form: formOf(objectsIn(text)) };
}

/** Returns a whole answer, or the data of its events. */
function objectsIn(text: string): unknown[] {
  if (!text.startsWith("data:") && !text.startsWith("event:")) return [JSON.parse(text)];
  const data = text.split("\n").filter((line) => line.startsWith("data: {"));
  return data.map((line) => JSON.parse(line.slice("data: ".length)));
}

const reasonFor = (path: string): string | undefined => ON_PURPOSE.find(([field]) => field.test(path))?.[1];

function compare({ route, body, onPurpose }: Example, ours: Answered, theirs: Answered): ExampleResult {
  const name = body === undefined ? route : `${route} ${JSON.stringify(body)}`;
  const fields = theirs.form.size;
  if (ours.status !== theirs.status) {
    const text = `${ours.status}, llama-server ${theirs.status}`;
    return { name, fields, differences: [{ text, reason: onPurpose }] };
  }
  const differences = lacking(ours.form, theirs.form).map(({ path, text }) => ({
    text,
    reason: onPurpose ?? reasonFor(path),
  }));
  return { name, fields, differences };
}
