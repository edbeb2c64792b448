// Converts token ids to text, under two paths that clients know.

import { checker } from "../contract/schema.ts";
import { DetokenizeRequest, DetokenizeResponse } from "../contract/tokenize.ts";
import { refuseUnsupported } from "../dialect/fields/unsupported.ts";
import type { AppDeps } from "./deps.ts";
import { bodyCeilings } from "./json-body.ts";
import { jsonRoute } from "./json-content.ts";
import { jsonResponse } from "./json-response.ts";

/** SGLang's field; here the text of special tokens is always included. */
const UNSUPPORTED = { skip_special_tokens: (asked: unknown) => asked !== false };

/** Returns the handler and the description of a route that detokenizes. */
export function detokenizing({ bodies, contexts, engine, tokenizer }: AppDeps) {
  const check = checker(DetokenizeRequest);
  return {
    handler: async ({ request }: { request: Request }) => {
      const asked = check(await bodies.read(request, bodyCeilings.tokenizer));
      refuseUnsupported(asked, UNSUPPORTED);
      const text = await tokenizer.run(() => engine.detokenize(asked.tokens, request.signal));
      const { modelId: model } = engine.status();
      return jsonResponse(contexts.of(request), { prompt: text, text, content: text, model });
    },
    hooks: jsonRoute(DetokenizeRequest, DetokenizeResponse),
  } as const;
}
