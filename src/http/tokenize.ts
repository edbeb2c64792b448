// Converts text to token ids in vLLM's form, under two paths that clients know.

import { checker } from "../contract/schema.ts";
import { TokenizeRequest, type TokenizeResponse } from "../contract/tokenize.ts";
import { always, refuseUnsupported } from "../dialect/fields/unsupported.ts";
import { invalidValue, missing, type SvcError } from "../domain/errors.ts";
import type { Generation } from "../domain/generate.ts";
import type { TokenizeOptions } from "../engine/text/port.ts";
import type { AppDeps } from "./deps.ts";

/** The tokens of conversations are counted by the routes that answer them. */
const UNSUPPORTED = { messages: always, tools: always, chat_template: always };

/** Returns a prompt's length in tokens. Throws like `GenerationService.countTokens`, and `server_busy`. */
export const countTokens = (
  { contexts, generation, tokenizer }: AppDeps,
  request: Request,
  asked: Generation,
): Promise<number> => {
  const { id, client } = contexts.of(request);
  return tokenizer.run(() => generation.countTokens({ ...asked, id, client }, request.signal));
};

/**
 * Returns a function that tokenizes as a request body says. `usual`: treatment of special tokens when the body does not
 * say. Throws SvcError with a code of the 400 family, naming the field, and what the tokenizer throws.
 */
export function tokenizing({ contexts, engine, log, tokenizer }: AppDeps) {
  const check = checker(TokenizeRequest);
  return async (body: unknown, request: Request, usual: TokenizeOptions = {}): Promise<TokenizeResponse> => {
    const asked = check(body);
    const text = asked.text || asked.prompt;
    if (!text) throw withoutText(asked);
    refuseUnsupported(asked, UNSUPPORTED);
    const { signal } = request;
    const { client } = contexts.of(request);
    const options = { ...usual, addSpecial: asked.add_special_tokens ?? usual.addSpecial ?? false, client };
    const tokens = await tokenizer.run(() => engine.tokenize(text, signal, options));
    const { modelId: model, model: info } = engine.status();
    if (asked.model && asked.model !== model)
      log.debug("tokenized by the active model instead of the named one", { model });
    const named = asked.return_token_strs === true;
    const pieces = named ? await tokenizer.run(() => engine.pieces([...tokens], signal)) : [];
    return {
      tokens: [...tokens],
      count: tokens.length,
      ...(named && { token_strs: pieces.map((piece) => (typeof piece === "string" ? piece : "\u{fffd}")) }),
      model,
      ...(info && { max_model_len: info.maxModelLen }),
    };
  };
}

function withoutText({ text, prompt }: TokenizeRequest): SvcError {
  const rule = "a string of at least 1 character";
  if (text == null && prompt == null) {
    return missing("text", `${rule} ('prompt' is another name for it)`);
  }
  const param = text == null ? "prompt" : "text";
  return invalidValue(param, `be ${rule}`, "a string of length 0");
}
