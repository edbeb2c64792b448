// A request field of another server, and what the rows of all of them have in common.

/** `honoured`: it has its effect. `refused`: 400 by name. `none`: it has nothing to have an effect on. */
export type Verdict = "honoured" | "refused" | "none";

export interface PeerField {
  readonly field: string;
  readonly verdict: Verdict;
  /** A value that would have an effect. */
  readonly value: unknown;
  readonly note?: string;
}

export interface PeerRoute {
  readonly peer: "llama-server" | "vLLM" | "SGLang" | "Ollama" | "LM Studio";
  /** Where the field is documented there. */
  readonly route: string;
  /** Where it is sent here. */
  readonly path: string;
  /** A body that is complete without the field. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly fields: readonly PeerField[];
}

export type Shorthand = readonly [field: string, value: unknown, note?: string];

export const rows = (verdict: Verdict, ...fields: readonly Shorthand[]): PeerField[] =>
  fields.map(([field, value, note]) => ({ field, verdict, value, ...(note !== undefined && { note }) }));

export const messages = [{ role: "user", content: "hi" }];
export const begun = [...messages, { role: "assistant", content: "he" }];
export const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
export const schema = { type: "object", properties: { a: { type: "string" } } };

export const OWN = "the contract's own: accepted without effect";
export const ONE_MODEL = "--idle-unload says when a model is unloaded";
export const MACHINE = "an option of the server";
