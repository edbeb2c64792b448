// A request field of another server, and what the rows of all of them have in common.

/** `honoured`: it has its effect. `refused`: 400 by name. `none`: it has nothing to have an effect on. */
export type Verdict = "honoured" | "refused" | "none";

export interface PeerField {
  readonly field: string;
  readonly verdict: Verdict;
  /** A value that would have an effect. */
  readonly value: unknown;
  readonly note?: string;
  /** What the field needs beside it to have its effect. */
  readonly beside?: Body;
  /** Of an honoured field: the value is what counts without it, too; another one is refused or stands in another row. */
  readonly usual?: true;
}

type Body = Readonly<Record<string, unknown>>;

export interface PeerRoute {
  readonly peer: "llama-server" | "vLLM" | "SGLang" | "Ollama" | "LM Studio";
  /** Where the field is documented there. */
  readonly route: string;
  /** Where it is sent here. */
  readonly path: string;
  /** A body that is complete without the field; of a GET the query. */
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

/** Honoured fields with the value that counts without them, too. */
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
