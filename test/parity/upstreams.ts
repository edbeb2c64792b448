// What happens to every request field on its way to an upstream, by kind of server: tested with the functions that
// translate requests. UPSTREAMS.md is made from it.

import { decodeChat } from "../../src/dialect/chat/decode.ts";
import { decodeCompletion } from "../../src/dialect/completions/decode.ts";
import { decodeEmbeddings } from "../../src/dialect/embeddings/decode.ts";
import { SvcError } from "../../src/domain/errors.ts";
import type { Generation } from "../../src/domain/generate.ts";
import { encodeEmbed } from "../../src/gateway/ollama/embeddings.ts";
import { encodeOllama } from "../../src/gateway/ollama/encode-request.ts";
import { encodeEmbeddings } from "../../src/gateway/openai/embeddings.ts";
import { encodeOpenAi } from "../../src/gateway/openai/encode-request.ts";
import { serverKinds, type ServerKind } from "../../src/gateway/server-kind.ts";
import { settings } from "../support/generation-settings.ts";
import { paddedTable } from "../support/markdown.ts";
import { begun, messages, tools, type PeerField } from "./peer-field.ts";
import { peerRoutes, withField } from "./peers.ts";

type Body = Readonly<Record<string, unknown>>;
type Route = keyof typeof PATHS;

const PATHS = { chat: "/v1/chat/completions", completions: "/v1/completions", embeddings: "/v1/embeddings" } as const;

/**
 * The result for a field: names of the server's fields that carry it · `svc`: svc handles it, whatever the server ·
 * `not held`: the server decides, for the reason that the report gives.
 */
export type Fate = "refused" | "svc" | "not held" | "dropped" | readonly string[];

const routes = Object.keys(PATHS) as Route[];

export interface FieldRow {
  readonly route: Route;
  readonly field: string;
  readonly value: unknown;
  readonly fates: Readonly<Record<ServerKind, Fate>>;
}

/** Returns a request as the server receives it. */
const TRANSLATE: Readonly<Record<Route, (body: Body, kind: ServerKind) => Body>> = {
  chat: (body, kind) => encode(kind, decodeChat(body, settings).request),
  completions: (body, kind) => encode(kind, decodeCompletion(body, settings).requests[0]),
  embeddings: (body, kind) => {
    const work = { kind: "embed", ...decodeEmbeddings(body) } as const;
    return (kind === "ollama" ? encodeEmbed(work, "m") : encodeEmbeddings(work, "m", kind)).body;
  },
};

/**
 * Fields that svc handles itself for every upstream: it makes and counts streams, and sends several requests for
 * several answers.
 */
const OWN: ReadonlySet<string> = new Set([
  "model",
  "stream",
  "stream_options",
  "n",
  "n_cmpl",
  "best_of",
  "echo",
  "prompt",
  "parallel_tool_calls",
  "encoding_format",
]);
/** llama.cpp and Ollama continue the assistant's last turn in any case, and prompt progress is always requested. */
const UNASKED: ReadonlySet<string> = new Set(["return_progress", "continue_final_message"]);
/** Requests not to reason, which other APIs always send. */
const NOT_HELD: ReadonlySet<string> = new Set(["chat_template_kwargs", "reasoning_effort", "reasoning"]);

const two = [...tools, { type: "function", function: { name: "g", strict: true, parameters: { type: "object" } } }];
/** Fields that need another one, and values that differ from the default. */
const more: readonly (readonly [base: Body, field: string, value: unknown])[] = [
  [{ messages, tools: two }, "tool_choice", "none"],
  [{ messages, tools: two }, "tool_choice", "required"],
  [{ messages, tools: two }, "tool_choice", { type: "function", function: { name: "f" } }],
  [
    { messages, tools: two },
    "tool_choice",
    { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "f" } }] } },
  ],
  [{ messages, tools: two }, "parallel_tool_calls", false],
  [{ messages }, "tools", two],
  [{ messages: begun }, "continue_final_message", true],
  [{ messages, logprobs: true }, "top_logprobs", 2],
];

/** Returns every field in the documentation of other servers for chat completions, completions and embeddings. */
export function fieldRows(): FieldRow[] {
  const documented = routes.flatMap((route) =>
    peerRoutes
      .filter(({ path }) => path === PATHS[route])
      .flatMap(({ body, fields }) =>
        fields.filter(worthTrying).map((one) => rowOf(route, { ...body, ...one.beside }, one)),
      ),
  );
  const extra = more.map(([body, field, value]) => rowOf("chat", body, { field, value, verdict: "honoured" }));
  const unique = new Map(
    [...documented, ...extra].map((row) => [`${row.route} ${row.field} ${JSON.stringify(row.value)}`, row]),
  );
  return [...unique.values()];
}

/** Returns whether a field is worth testing: it has an effect somewhere, and its value is not the default. */
const worthTrying = ({ field, verdict, note, usual }: PeerField): boolean =>
  !(verdict === "none" && field !== "frequency_penalty") &&
  !usual &&
  field !== "parallel_tool_calls" &&
  note !== "older versions";

function rowOf(route: Route, base: Body, field: PeerField): FieldRow {
  const fates = Object.fromEntries(serverKinds.map((kind) => [kind, fateOf(route, kind, base, field)]));
  return { route, field: field.field, value: field.value, fates: fates as Record<ServerKind, Fate> };
}

function fateOf(route: Route, kind: ServerKind, base: Body, field: PeerField): Fate {
  const name = field.field.split(".")[0] ?? "";
  try {
    const bodies = [base, withField(base, field) as Body].map((body) => ({ ...body, stream: true }));
    const [without, sent] = bodies.map((body) => TRANSLATE[route](body, kind));
    const changed = changedFields(without ?? {}, sent ?? {});
    if (changed.length > 0) return changed;
    if (OWN.has(name)) return "svc";
    if (UNASKED.has(name)) return [name];
    return NOT_HELD.has(name) ? "not held" : "dropped";
  } catch (error) {
    // A field may have two names, one of which is reported.
    const isNamed = error instanceof SvcError && error.details.param?.startsWith(name);
    if (isNamed || (error instanceof SvcError && error.code === "unsupported_parameter")) return "refused";
    throw error;
  }
}

function encode(kind: ServerKind, request: Generation): Body {
  const whole = { ...request, id: "r" };
  const { body } = kind === "ollama" ? encodeOllama(whole, "m", true) : encodeOpenAi(whole, "m", kind);
  // Ollama has most of the fields in an object.
  const { options = {}, ...fields } = body;
  return { ...fields, ...(options as Body) };
}

function changedFields(without: Body, sent: Body): string[] {
  const names = [...new Set([...Object.keys(without), ...Object.keys(sent)])];
  return names.filter((name) => JSON.stringify(without[name]) !== JSON.stringify(sent[name]));
}

/** Returns the whole of UPSTREAMS.md. */
export function upstreamsReport(): string {
  const rows = fieldRows();
  const sections = routes.map((route) => {
    const lines = rows
      .filter((row) => row.route === route)
      .map(({ field, value, fates }) => [
        `\`${field}\``,
        `\`${JSON.stringify(value).replaceAll("|", "\\|")}\``,
        ...serverKinds.map((kind) => shown(field, fates[kind])),
      ]);
    return `## POST ${PATHS[route]}\n\n${paddedTable(["field", "as in", ...serverKinds], lines).join("\n")}`;
  });
  return `# Request fields at upstreams

What becomes of every request field that the documents of llama-server, vLLM, SGLang, Ollama and LM Studio describe, by the kind of upstream
that the model is on. **yes**: passed on under its own name; a name: passed on as that; svc: done by svc for every
upstream; **refused**: a 400 \`unsupported_parameter\` that names it. Nothing is dropped; not held: wishes not
to reason, of which these servers cannot be told: clients of messages always send them. Made by
\`UPDATE=1 bun test test/gateway/field-table.test.ts\`, which translates a request with and without each field; the kinds' table is
\`src/gateway/server-kind.ts\`.

${sections.join("\n\n")}
`;
}

function shown(field: string, fate: Fate): string {
  if (typeof fate === "string") return fate;
  if (fate.length > 3) return `${fate.length} fields`;
  return fate.length === 1 && fate[0] === field ? "yes" : fate.map((name) => `\`${name}\``).join(", ");
}
