// Converts text to token ids and back in vLLM's form, each under two paths that clients know.

import { checker } from "../contract/schema.ts";
import { DetokenizeRequest, TokenizeRequest } from "../contract/tokenize.ts";
import { always, refuseUnsupported, unless } from "../dialect/fields/unsupported.ts";
import { invalidValue, missing, type SvcError } from "../domain/errors.ts";
import type { Generation } from "../domain/generate.ts";
import type { TokenPiece } from "../engine/text/port.ts";
import type { HeldAnswer } from "../service/held-answer.ts";
import { isNamed } from "../service/model-router.ts";
import type { AppDeps } from "./deps.ts";
import { bodyCeilings } from "./json-body.ts";
import { jsonResponse, wholeAnswer } from "./json-response.ts";
import type { RequestContext } from "./request-context.ts";

/** Tokens whose texts are looked up at a time: millions at once would hold up all requests. */
const LOOKED_UP = 8192;

/** The tokens of conversations are counted by the routes that answer them. */
const UNSUPPORTED = { messages: always, tools: always, chat_template: always };
/** SGLang's field; here the text of special tokens is always included. */
const DETOKENIZE_UNSUPPORTED = { skip_special_tokens: unless(false) };

const checkTokenize = checker(TokenizeRequest);
const checkDetokenize = checker(DetokenizeRequest);

/** Returns a prompt's length in tokens. Throws like `GenerationService.countTokens`, and `server_busy`. */
export const countTokens = (
  { contexts, generation, tokenizer }: AppDeps,
  request: Request,
  prompt: Generation,
): Promise<number> => {
  const { id, client } = contexts.of(request);
  return tokenizer.run(() => generation.countTokens({ ...prompt, id, client }, request.signal));
};

/** Answers with tokens and, if `named`, their texts; `encode` puts them together. They hold memory until the end. */
export function tokensAnswer(
  deps: AppDeps,
  tokens: Int32Array,
  { named, context }: { readonly named: boolean; readonly context: RequestContext },
  encode: (pieces: IteratorObject<TokenPiece>) => unknown,
): Promise<Response> {
  return wholeAnswer(deps.answerBudget, context, async (held) => {
    held.addBytes(tokens.byteLength);
    const parts = named ? await piecesOf(deps, tokens, context.signal, held) : [];
    return jsonResponse(context, encode(parsed(parts)));
  });
}

/** Returns the text of each token, in lists as JSON: as values they would take ten times the memory. */
function piecesOf(
  { engine, tokenizer }: AppDeps,
  tokens: Int32Array,
  signal: AbortSignal,
  held: HeldAnswer,
): Promise<string[]> {
  return tokenizer.run(async () => {
    const parts: string[] = [];
    for (let at = 0; at < tokens.length; at += LOOKED_UP) {
      const part = JSON.stringify(await engine.pieces(tokens.subarray(at, at + LOOKED_UP), signal));
      held.addBytes(2 * part.length);
      parts.push(part);
    }
    return parts;
  });
}

function* parsed(parts: readonly string[]): Generator<TokenPiece, void, void> {
  for (const part of parts) yield* JSON.parse(part) as TokenPiece[];
}

/**
 * Tokenizes the text of a request body. `parseSpecial`: whether special tokens written out in it are read as such.
 * Throws SvcError with a code of the 400 family, naming the field, and what the tokenizer throws.
 */
export async function tokenized(
  { contexts, engine, log, router, tokenizer }: AppDeps,
  raw: unknown,
  request: Request,
  parseSpecial = false,
) {
  const body = checkTokenize(raw);
  const text = body.text || body.prompt;
  if (!text) throw withoutText(body);
  refuseUnsupported(body, UNSUPPORTED);
  const { client } = contexts.of(request);
  const options = { parseSpecial, addSpecial: body.add_special_tokens ?? true, client };
  const tokens = await tokenizer.run(() => engine.tokenize(text, request.signal, options));
  const { modelId: model, model: info } = engine.status();
  const isAlias = (name: string) => router.models().some((one) => one.id === model && isNamed(one, name));
  // Describing all models takes longer than to compare names, and most clients name the model itself.
  if (body.model && body.model !== model && !isAlias(body.model)) {
    log.verbose("tokenized by the active model instead of the named one", { model });
  }
  return { tokens, model, info, named: body.return_token_strs === true };
}

/** Answers with what `tokenized` returns. */
export async function answerTokenized(
  deps: AppDeps,
  body: unknown,
  request: Request,
  parseSpecial?: boolean,
): Promise<Response> {
  const { tokens, model, info, named } = await tokenized(deps, body, request, parseSpecial);
  return tokensAnswer(deps, tokens, { named, context: deps.contexts.of(request) }, (pieces) => ({
    tokens,
    count: tokens.length,
    ...(named && { token_strs: pieces.map((piece) => (typeof piece === "string" ? piece : "\u{fffd}")) }),
    model,
    ...(info && { max_model_len: info.maxModelLen }),
  }));
}

/** Answers with the text of token ids. */
export async function detokenize(
  { bodies, contexts, engine, tokenizer }: AppDeps,
  request: Request,
): Promise<Response> {
  const body = checkDetokenize(await bodies.read(request, bodyCeilings.tokenizer));
  refuseUnsupported(body, DETOKENIZE_UNSUPPORTED);
  const text = await tokenizer.run(() => engine.detokenize(body.tokens, request.signal));
  const { modelId: model } = engine.status();
  return jsonResponse(contexts.of(request), { prompt: text, text, content: text, model });
}

function withoutText({ text, prompt }: TokenizeRequest): SvcError {
  const rule = "a string of at least 1 character";
  if (text == null && prompt == null) {
    return missing("text", `${rule} ('prompt' is another name for it)`);
  }
  const param = text == null ? "prompt" : "text";
  return invalidValue(param, `be ${rule}`, "a string of length 0");
}
