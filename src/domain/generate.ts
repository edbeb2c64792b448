// What every dialect asks for and what every dialect gets back: one request type, one canonical event stream.

import type { AdapterSet } from "./adapters.ts";
import type { Media, MediaSource } from "./media.ts";
import type { Profile } from "./profile.ts";
import type { RequestOrigin } from "./request-origin.ts";
import type { ServedBy } from "./upstream.ts";
import type { FinishReason, PromptLogprob, TokenLogprob, Usage } from "./usage.ts";

/** A call that the model made, as it goes back to the model with the conversation. */
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

/** The media of one turn, in their order. */
export const mediaOf = ({ content }: ChatMessage): MediaPart[] =>
  typeof content === "string" ? [] : content.filter((part) => part.type === "media");

/** One turn of a conversation, already free of wire differences (developer is system, text parts are joined). */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** Parts only where one of them is a medium. */
  readonly content: string | readonly ContentPart[];
  /** Of a tool message: the tool that answered. */
  readonly name?: string;
  readonly reasoning?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly toolCallId?: string;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments object, as the model reads it. */
  readonly parameters: JsonSchema;
  /** The same for the sampler: what of it can be enforced. */
  readonly enforced: JsonSchema;
  /** The client was promised arguments that follow their schema. */
  readonly strict?: true;
  /** The conversation itself tells of it: the prompt's list of tools does not. Such tools come last. */
  readonly described?: true;
}

/** What the answer must look like beyond what the model would write by itself. */
export interface Constraint {
  /** JSON schema that the answer follows. */
  readonly schema?: JsonSchema;
  /** GBNF grammar that the answer follows. */
  readonly grammar?: string;
  /** What the client wrote in its place: all of the answer matches it, or is one of these. */
  readonly regex?: string;
  readonly choice?: readonly string[];
  /** The client was promised enforcement (strict): it is told when there is none. */
  readonly strict: boolean;
  /** Parts of a strict schema that a grammar cannot express. */
  readonly inexpressible: boolean;
}

/** Values passed to the model's own chat template, by name. */
export type TemplateKwargs = Readonly<Record<string, unknown>>;

/** Sampling settings of a request; an absent field inherits flags, then the model file, then llama.cpp's default. */
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
  /** For other servers alone: it has no effect here. */
  readonly frequencyPenalty?: number;
  readonly dryMultiplier?: number;
  readonly dryBase?: number;
  readonly dryAllowedLength?: number;
  readonly dryPenaltyLastN?: number;
  readonly drySequenceBreakers?: readonly string[];
  readonly mirostat?: 0 | 1 | 2;
  readonly mirostatTau?: number;
  readonly mirostatEta?: number;
  /** Token ids and what is added to their logits. */
  readonly logitBias?: readonly (readonly [token: number, bias: number])[];
  /** Unsigned 32 bits; absent: a fresh random one for each request. */
  readonly seed?: number;
  /** The model cannot end its turn. */
  readonly ignoreEos?: boolean;
  /** Tokens before which the model cannot end its turn. */
  readonly minTokens?: number;
}

interface Gap {
  readonly begun: string;
  readonly files: readonly { readonly filename: string; readonly text: string }[];
}

/** What is to be generated, whoever asks for it. */
export interface Generation {
  /** The model that the client named; absent: none. */
  readonly model?: string;
  readonly messages: readonly ChatMessage[];
  /** Text or token ids to continue, in place of messages: no template is applied, and special tokens are not parsed. */
  readonly prompt?: string | TokenIds;
  /** The field that has the token ids of `prompt`, one by one; absent: some of them come from elsewhere. */
  readonly promptField?: string;
  /** Special tokens that are written out in a `prompt` of text count as such. */
  readonly parseSpecial?: true;
  /** Text that the answer has to lead to: it fills the gap between a `prompt` of text and this. */
  readonly suffix?: string;
  /** Where older tokens are dropped because the context is full: how many first ones stay; -1: the prompt. */
  readonly keepTokens?: number;
  /** With `suffix`: what the answer in the gap begins with, and other files that the model reads before it. */
  readonly gap?: Gap;
  /** The ids of prompt and answer are wanted with the events. */
  readonly returnTokens?: true;
  /** The client wants to know with each event how many tokens were sampled for it, or how fast. */
  readonly counted?: "usage" | "timings";
  /** The client wants `progress` events while the prompt is computed. */
  readonly returnProgress?: true;
  /** The last message is the beginning of the answer, which goes on from there. */
  readonly continueLast?: boolean;
  /** False: the prompt ends behind the last message, and nothing tells the model that its turn has come. */
  readonly generationPrompt?: false;
  /** Tools that may be called; none where calling is forbidden. */
  readonly tools: readonly Tool[];
  /** All tools of the client, where `tools` are a choice among them: servers that choose by themselves get these, for an unchanged prompt. */
  readonly allTools?: readonly Tool[];
  /** `required`: the answer is a call of one of `tools`. */
  readonly toolChoice: "auto" | "required";
  /** False: at most one call. */
  readonly parallelToolCalls: boolean;
  readonly constraint?: Constraint;
  readonly templateKwargs: TemplateKwargs;
  /** Whether the template is asked for reasoning before the answer; absent: as it does by itself. */
  readonly thinking?: boolean;
  /** Tokens of reasoning after which it is ended; absent: no limit. */
  readonly reasoningBudget?: number;
  /** The field in which the client named it; absent: it is a launch option's, or of a convention whose clients always send one. */
  readonly budgetField?: string;
  /** What the client calls fields, by the names that refusals give them; absent: the same. */
  readonly fieldNames?: Readonly<Record<string, string>>;
  readonly sampling: Sampling;
  /** Fields under their names on the wire that only some other servers honour; refused by name wherever else it is computed. */
  readonly foreign?: Readonly<Record<string, unknown>>;
  /** The LoRA adapters that it chooses; absent: those that are on by default. */
  readonly adapters?: AdapterSet;
  /** Output limit in tokens; absent: the room left in the context. */
  readonly maxTokens?: number;
  /** Milliseconds after its first token at which an answer ends that has a line break; absent: none. */
  readonly maxPredictMs?: number;
  /** Stop sequences, first match wins; never part of the output. Matched in visible text only. */
  readonly stop: readonly string[];
  /** Absent: no log probabilities. Else the number of alternatives per token (0 gives the chosen token alone). */
  readonly topLogprobs?: number;
  /** With `topLogprobs`, and a raw prompt: those of the prompt's own tokens are wanted, too, with the finish. */
  readonly promptLogprobs?: true;
  /** Nothing that is cached is used: the whole prompt is computed. */
  readonly fresh?: true;
  /** The slot that holds its tokens afterwards, where slots are kept; absent: the first. */
  readonly slot?: number;
  /** Answers wanted. Each has its own generator; the prompt is computed once. */
  readonly choices: number;
  /** The finish is to tell what the request cost the machine. */
  readonly profile?: true;
}

/** What belongs together: its answers come as those of one. */
export type Generations = readonly [Generation, ...Generation[]];

/** Ids of tokens. A long list is sent to another process as an Int32Array: its numbers would take a microsecond each. */
export type TokenIds = readonly number[] | Int32Array;

/** What a generation says of conversation and tools where it has neither. */
export const PLAIN = {
  messages: [],
  tools: [],
  toolChoice: "auto",
  parallelToolCalls: true,
  templateKwargs: {},
} as const satisfies Partial<Generation>;

/** A generation as engines get it. */
export interface GenerateRequest extends Generation, RequestOrigin {
  /** The media that `messages` refer to, in their order; absent until they are loaded. */
  readonly media?: readonly Media[];
  /** Requests of one group have the same prompt: inside the engine, the answers to one request. */
  readonly group?: string;
  /** Nobody sees anything of the answer before its end: until then it may be begun again elsewhere. */
  readonly whole?: true;
}

/** A medium of a request whose model cannot take its kind: the text that was recognised stands in its place in the prompt. */
export type ReadInput = TranscribedInput | RecognizedInput;

interface TextOfInput {
  /** The field that the medium came in. */
  readonly param: string;
  /** That recognised it. */
  readonly model: string;
  readonly text: string;
}

export interface TranscribedInput extends TextOfInput {
  readonly kind: "audio";
  /** Code of the language. */
  readonly language: string;
  /** How long the sound plays. */
  readonly seconds: number;
}

/** `text`: Markdown; empty where there is none in the picture. */
export interface RecognizedInput extends TextOfInput {
  readonly kind: "image";
  readonly pageCount: number;
}

/** Rendered, tokenized, length-checked and queued: from here on the HTTP status is settled. */
export interface AcceptedEvent {
  readonly type: "accepted";
  readonly promptTokens: number;
  /** A strict constraint is not enforced, or not all of it. */
  readonly downgraded: boolean;
  /** In the order of the media; absent: the model took all of them itself. */
  readonly readInputs?: readonly ReadInput[] | undefined;
}

/** Which of several answers an event belongs to; absent where there is one. */
interface OfChoice {
  readonly choice?: number;
}

/** Tokens that were sampled since the event before; absent: one. */
interface Sampled {
  readonly sampled?: number;
}

/** How many tokens were sampled for an event. */
export const sampledFor = (event: object): number =>
  "sampled" in event && typeof event.sampled === "number" ? event.sampled : 1;

/** A piece of visible text, whole UTF-8 characters only. Logprobs cover exactly the tokens behind this text. */
export interface TextEvent extends OfChoice, Sampled {
  readonly type: "text";
  readonly text: string;
  readonly logprobs?: readonly TokenLogprob[];
  /** Of a request that wants them: those since the last such event. */
  readonly tokens?: readonly number[];
}

/** How much of the prompt is computed, of a request that wants to know; all in tokens. */
export interface ProgressEvent extends OfChoice {
  readonly type: "progress";
  readonly total: number;
  readonly cached: number;
  /** Cached ones included. */
  readonly processed: number;
  /** Since its first computation began. */
  readonly ms: number;
}

/** A piece of what the model thinks before it answers. */
interface ReasoningEvent extends OfChoice, Sampled {
  readonly type: "reasoning";
  readonly text: string;
}

/** The beginning of a tool call; calls are numbered from 0 in their order. */
interface ToolCallEvent extends OfChoice, Sampled {
  readonly type: "tool_call";
  readonly index: number;
  readonly id: string;
  readonly name: string;
}

/** A piece of a call's arguments: JSON text, whole only when all pieces are put together. */
interface ToolArgumentsEvent extends OfChoice, Sampled {
  readonly type: "tool_arguments";
  readonly index: number;
  readonly text: string;
}

/** What the model writes, taken apart. */
export type OutputEvent = TextEvent | ReasoningEvent | ToolCallEvent | ToolArgumentsEvent | ProgressEvent;

/** Always the last event of a generation that did not throw; with several answers, of each of them. */
export interface FinishEvent extends OfChoice {
  readonly type: "finish";
  readonly reason: FinishReason;
  /** The stop sequence that ended it, of those that the request named. */
  readonly stopSequence?: string;
  /** With reason `length`: the context is full, no token limit of the request was reached. */
  readonly contextFull?: boolean;
  /** The context was full, and older tokens were dropped. */
  readonly contextShifted?: boolean;
  readonly usage: Usage;
  /** Of a request that wants them; media have none. */
  readonly tokens?: { readonly prompt: readonly number[]; readonly answer: readonly number[] };
  /** The tokens of the prompt, of a request that wants them. */
  readonly promptLogprobs?: readonly PromptLogprob[];
  /** Of a request that asked for it, and reached the engine. */
  readonly profile?: Profile;
  /** Of a model on another server. */
  readonly servedBy?: ServedBy;
}

export type GenerateEvent = AcceptedEvent | OutputEvent | FinishEvent;

/** The first computation for a request begins: it does not wait any more. */
interface StartedEvent extends OfChoice {
  readonly type: "started";
  /** Nobody reports when that is: it may still wait. */
  readonly isAssumed?: true;
}

/** Of a request that is wanted whole: what came of the answer so far is lost, and it begins again. */
interface RestartedEvent extends OfChoice {
  readonly type: "restarted";
}

/** What an engine tells of a generation. */
export type EngineEvent = GenerateEvent | StartedEvent | RestartedEvent;
