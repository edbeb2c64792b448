// A request field of another server, and helpers for the rows of all of them.

/** `honoured`: the field has its effect. `refused`: 400 by name. `none`: the field has nothing to affect. */
export type Verdict = "honoured" | "refused" | "none";

export interface PeerField {
  readonly field: string;
  readonly verdict: Verdict;
  /** A value that should have an effect. */
  readonly value: unknown;
  readonly note?: string;
  /** Other fields without which this one has no effect. */
  readonly beside?: Body;
  /** For an honoured field: the value is also the default; another value is refused or has its own row. */
  readonly usual?: true;
}

type Body = Readonly<Record<string, unknown>>;

export interface PeerRoute {
  readonly peer: "llama-server" | "vLLM" | "SGLang" | "Ollama" | "LM Studio";
  /** The route under which the field is documented. */
  readonly route: string;
  /** The path to which it is sent in svc. */
  readonly path: string;
  /** A body that is complete without the field; the query for a GET. */
  readonly body: Body;
  readonly fields: readonly PeerField[];
}

export type Shorthand = readonly [field: string, value: unknown, note?: string | undefined, beside?: Body];

export const rows = (verdict: Verdict, ...fields: readonly Shorthand[]): PeerField[] =>
  fields.map(([field, value, note, beside]) => ({
    field,
    verdict,
    value,
    ...(note !== undefined && { note }),
    ...(beside && { beside }),
  }));

/** Returns honoured fields whose value is the default. */
export const usual = (...fields: readonly Shorthand[]): PeerField[] =>
  rows("honoured", ...fields).map((field) => ({ ...field, usual: true }));

export const streamed = { stream: true };

export const messages = [{ role: "user", content: "hi" }];
export const begun = [...messages, { role: "assistant", content: "he" }];
export const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
export const schema = { type: "object", properties: { a: { type: "string" } } };

export const OWN = "the contract's own: accepted without effect";
export const ONE_MODEL = "--idle-unload says when a model is unloaded";
export const MACHINE = "an option of the server";
