// The request type that every dialect decodes to, and the canonical event stream that every dialect encodes from.

import type { AdapterSet } from "./adapters.ts";
import type { Hints } from "./hints.ts";
import type { Media, MediaSource } from "./media.ts";
import type { Profile } from "./profile.ts";
import type { RequestOrigin } from "./request-origin.ts";
import type { ServedBy } from "./upstream.ts";
import type { FinishReason, PromptLogprob, TokenLogprob, Usage } from "./usage.ts";

/** A tool call by the model, as the conversation passes it back to the model. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "media"; readonly source: MediaSource; readonly param: string };

export type MediaPart = Extract<ContentPart, { type: "media" }>;

/** Returns the media of one turn, in order. */
export const mediaOf = ({ content }: ChatMessage): MediaPart[] =>
  typeof content === "string" ? [] : content.filter((part) => part.type === "media");

/** Returns the text of parts, as a model is given it that takes no parts. */
export const textOf = (parts: readonly ContentPart[]): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");

/** Returns parts as the content of a turn: as one text, unless there are media. */
export const joinedParts = (parts: readonly ContentPart[]): ChatMessage["content"] =>
  parts.some(({ type }) => type === "media") ? parts : textOf(parts);

/** One turn of a conversation, without differences between APIs (developer is system, text parts are joined). */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** A list of parts only if at least one part is a medium. */
  readonly content: string | readonly ContentPart[];
  /** In a tool message: the tool that answered. */
  readonly name?: string;
  readonly reasoning?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly toolCallId?: string;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments object, as shown to the model. */
  readonly parameters: JsonSchema;
  /** The part of that schema that the sampler can enforce. */
  readonly enforced: JsonSchema;
  /** Set if the client was promised arguments that follow the schema. */
  readonly strict?: true;
  /** Set if the conversation itself describes the tool, so the prompt's tool list omits it. Such tools come last. */
  readonly described?: true;
}

/** A format that the answer must have. */
export interface Constraint {
  /** JSON schema that the answer must follow. */
  readonly schema?: JsonSchema;
  /** The client's name for the schema. */
  readonly name?: string;
  /** GBNF grammar that the answer must follow. */
  readonly grammar?: string;
  /** What the client sent, if `grammar` was made of it: a pattern for the whole answer, or the allowed answers. */
  readonly regex?: string;
  readonly choice?: readonly string[];
  /** Whether the client was promised enforcement (strict): if there is none, the response reports it. */
  readonly strict: boolean;
  /** Whether a strict schema has parts that a grammar cannot express. */
  readonly inexpressible: boolean;
}

/** Values passed to the model's chat template, by name. */
export type TemplateKwargs = Readonly<Record<string, unknown>>;

/** Sampling settings of a request; absent: launch flags apply, then the model file, then llama.cpp's defaults. */
export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly minP?: number;
  readonly typicalP?: number;
  readonly topNSigma?: number;
  readonly xtcProbability?: number;
  readonly xtcThreshold?: number;
  readonly dynatempRange?: number;
  readonly dynatempExponent?: number;
  /** 1 is off; applied over the last `repetitionWindow` tokens. */
  readonly repetitionPenalty?: number;
  /** Tokens; -1 is the whole context. */
  readonly repetitionWindow?: number;
  readonly presencePenalty?: number;
  /** Only for upstreams: has no effect here. */
  readonly frequencyPenalty?: number;
  readonly dryMultiplier?: number;
  readonly dryBase?: number;
  readonly dryAllowedLength?: number;
  readonly dryPenaltyLastN?: number;
  readonly drySequenceBreakers?: readonly string[];
  readonly mirostat?: 0 | 1 | 2;
  readonly mirostatTau?: number;
  readonly mirostatEta?: number;
  /** Token ids with the value to add to the logit of each. */
  readonly logitBias?: readonly (readonly [token: number, bias: number])[];
  /** Unsigned 32-bit integer; absent: a new random seed for each request. */
  readonly seed?: number;
  /** Whether the model is prevented from ending its turn. */
  readonly ignoreEos?: boolean;
  /** How many tokens the model must generate before it may end its turn. */
  readonly minTokens?: number;
}

interface Gap {
  readonly begun: string;
  readonly files: readonly { readonly filename: string; readonly text: string }[];
}

/** What to generate, independent of the request's origin. */
export interface Generation {
  /** The model that the client named; absent if the client named none. */
  readonly model?: string;
  readonly messages: readonly ChatMessage[];
  /** Text or token ids to continue, in place of messages: no template is applied, and special tokens are not parsed. */
  readonly prompt?: string | TokenIds;
  /** The request field whose elements are the token ids of `prompt`; absent if some ids come from elsewhere. */
  readonly promptField?: string;
  /** Set if special tokens written out in a text `prompt` are parsed as special tokens. */
  readonly parseSpecial?: true;
  /** Text after the answer: the answer fills the gap between a text `prompt` and this suffix. */
  readonly suffix?: string;
  /** How many first tokens stay when older tokens are dropped because the context is full; -1: the whole prompt. */
  readonly keepTokens?: number;
  /** With `suffix`: the start of the text in the gap, and other files that the prompt shows to the model. */
  readonly gap?: Gap;
  /** Set if the client wants the token ids of prompt and answer in the events. */
  readonly returnTokens?: true;
  /** Whether each event must report how many tokens were sampled for it, or how fast. */
  readonly counted?: "usage" | "timings";
  /** Set if the client wants `progress` events while the prompt is computed. */
  readonly returnProgress?: true;
  /**
   * Whether the last message is an assistant prefill, which the answer continues. `if-possible`: where the model's
   * server cannot continue it, it is a finished turn.
   */
  readonly continueLast?: boolean | "if-possible";
  /** False: the prompt ends after the last message, without the template's start of the assistant's turn. */
  readonly generationPrompt?: false;
  /** Tools that the model may call; empty if tool calls are forbidden. */
  readonly tools: readonly Tool[];
  /** All tools of the client, if `tools` is a subset: upstreams that choose get all, for an unchanged prompt. */
  readonly allTools?: readonly Tool[];
  /** `required`: the answer must be a call of one of `tools`. */
  readonly toolChoice: "auto" | "required";
  /** False: at most one tool call. */
  readonly parallelToolCalls: boolean;
  readonly constraint?: Constraint;
  readonly templateKwargs: TemplateKwargs;
  /** Set if `templateKwargs` has values of the request, not only of a launch option, besides those about reasoning. */
  readonly asksForKwargs?: true;
  /** Whether the template asks the model to reason before the answer; absent: the template's default. */
  readonly thinking?: boolean;
  /** Maximum reasoning tokens, after which reasoning is ended; absent: no limit. */
  readonly reasoningBudget?: number;
  /** The request field of the budget; absent if a launch option sets it, or if the API's clients always send one. */
  readonly budgetField?: string;
  /** The client's names of fields, by their names in error messages; absent: the names are the same. */
  readonly fieldNames?: Readonly<Record<string, string>>;
  readonly sampling: Sampling;
  /** Wire fields, by name, that only some upstreams support; anything else that computes the request refuses them. */
  readonly foreign?: Readonly<Record<string, unknown>>;
  /** Wire fields for upstreams alone: engines do not get them. */
  readonly hints?: Hints | undefined;
  /** The selected LoRA adapters; absent: those that are on by default. */
  readonly adapters?: AdapterSet;
  /** Output limit in tokens; absent: the remaining context. */
  readonly maxTokens?: number;
  /** Milliseconds after the first token from which an answer with a line break is ended; absent: no limit. */
  readonly maxPredictMs?: number;
  /** Stop sequences: the first match wins. Matched in visible text only, never part of the output. */
  readonly stop: readonly string[];
  /** Alternatives per token with log probabilities (0: only the chosen token); absent: no log probabilities. */
  readonly topLogprobs?: number;
  /** With `topLogprobs` and a raw prompt: set if the finish must also have the log probabilities of the prompt. */
  readonly promptLogprobs?: true;
  /** Set if no cached tokens may be used: the whole prompt is computed. */
  readonly fresh?: true;
  /** The slot that holds the tokens afterwards, if slots are enabled; absent: the first slot. */
  readonly slot?: number;
  /** Number of answers. Each has its own random generator; the prompt is computed once. */
  readonly choices: number;
  /** Set if the finish must report what resources the request used. */
  readonly profile?: true;
}

/** Generations of one request: their answers are returned together, like those of a single generation. */
export type Generations = readonly [Generation, ...Generation[]];

/** Token ids. Long lists are sent between processes as Int32Array: a plain list would take a microsecond per number. */
export type TokenIds = readonly number[] | Int32Array;

/** The conversation and tool fields of a generation that has neither. */
export const PLAIN = {
  messages: [],
  tools: [],
  toolChoice: "auto",
  parallelToolCalls: true,
  templateKwargs: {},
} as const satisfies Partial<Generation>;

/** A generation as an engine receives it. */
export interface GenerateRequest extends Generation, RequestOrigin {
  /** The media that `messages` refer to, in order; absent until they are loaded. */
  readonly media?: readonly Media[];
  /** Requests of one group have the same prompt. Inside the engine, they are the answers to one request. */
  readonly group?: string;
  /** Set if the client sees nothing of the answer before its end: until then, another replica may restart it. */
  readonly whole?: true;
}

/** A medium that the model does not support: the text recognised in it takes its place in the prompt. */
export type ReadInput = TranscribedInput | RecognizedInput;

interface TextOfInput {
  /** The request field of the medium. */
  readonly param: string;
  /** The model that recognised the text. */
  readonly model: string;
  readonly text: string;
}

export interface TranscribedInput extends TextOfInput {
  readonly kind: "audio";
  /** Language code. */
  readonly language: string;
  /** Duration of the sound in seconds. */
  readonly seconds: number;
}

/** `text`: Markdown; empty if the image has no text. */
export interface RecognizedInput extends TextOfInput {
  readonly kind: "image";
  readonly pageCount: number;
}

/** The request is rendered, tokenized, length-checked and queued: the HTTP status is final from here on. */
export interface AcceptedEvent {
  readonly type: "accepted";
  readonly promptTokens: number;
  /** Whether a strict constraint is not enforced, or only in part. */
  readonly downgraded: boolean;
  /** Media replaced by text, in order; absent: the model processes all media itself. */
  readonly readInputs?: readonly ReadInput[] | undefined;
}

/** Which of several answers an event belongs to; absent if there is only one. */
interface OfChoice {
  readonly choice?: number;
}

/** How many tokens were sampled since the previous event; absent: one. */
interface Sampled {
  readonly sampled?: number;
}

/** Returns how many tokens were sampled for an event. */
export const sampledFor = (event: object): number =>
  "sampled" in event && typeof event.sampled === "number" ? event.sampled : 1;

/** A piece of visible text, whole UTF-8 characters only. `logprobs` covers exactly the tokens of this text. */
export interface TextEvent extends OfChoice, Sampled {
  readonly type: "text";
  readonly text: string;
  readonly logprobs?: readonly TokenLogprob[];
  /** Token ids since the last event with ids, if requested. */
  readonly tokens?: readonly number[];
}

/** How much of the prompt is computed, if requested; in tokens. */
export interface ProgressEvent extends OfChoice {
  readonly type: "progress";
  readonly total: number;
  readonly cached: number;
  /** Computed tokens, including cached ones. */
  readonly processed: number;
  /** Milliseconds since the first computation of the request began. */
  readonly ms: number;
}

/** A piece of the model's reasoning. */
interface ReasoningEvent extends OfChoice, Sampled {
  readonly type: "reasoning";
  readonly text: string;
}

/** The beginning of a tool call. `index` numbers the calls from 0, in order. */
interface ToolCallEvent extends OfChoice, Sampled {
  readonly type: "tool_call";
  readonly index: number;
  readonly id: string;
  readonly name: string;
}

/** A piece of a call's arguments: JSON text that is complete only when all pieces are joined. */
interface ToolArgumentsEvent extends OfChoice, Sampled {
  readonly type: "tool_arguments";
  readonly index: number;
  readonly text: string;
}

/** Events for the output of the model, and for progress before it. */
export type OutputEvent = TextEvent | ReasoningEvent | ToolCallEvent | ToolArgumentsEvent | ProgressEvent;

/** The last event of a generation that does not throw; with several answers, the last event of each. */
export interface FinishEvent extends OfChoice {
  readonly type: "finish";
  readonly reason: FinishReason;
  /** The request's stop sequence that ended the answer. */
  readonly stopSequence?: string;
  /** With reason `length`: set if the context is full, rather than the request's token limit reached. */
  readonly contextFull?: boolean;
  /** Set if the context was full and older tokens were dropped. */
  readonly contextShifted?: boolean;
  readonly usage: Usage;
  /** Token ids, if requested; media have none. */
  readonly tokens?: { readonly prompt: readonly number[]; readonly answer: readonly number[] };
  /** Log probabilities of the prompt's tokens, if requested. */
  readonly promptLogprobs?: readonly PromptLogprob[];
  /** Resource usage, if requested; absent if the request did not reach the engine. */
  readonly profile?: Profile;
  /** Set if an upstream computed the answer. */
  readonly servedBy?: ServedBy;
}

/** For a request with `whole`: the answer so far is lost, and the request starts again. */
interface RestartedEvent extends OfChoice {
  readonly type: "restarted";
}

export type GenerateEvent = AcceptedEvent | OutputEvent | FinishEvent | RestartedEvent;

/** The first computation of a request begins: it no longer waits. */
interface StartedEvent extends OfChoice {
  readonly type: "started";
  /** Set if nothing reports the real start: the request may still be waiting. */
  readonly isAssumed?: true;
}

/** All events that an engine emits for a generation. */
export type EngineEvent = GenerateEvent | StartedEvent;
