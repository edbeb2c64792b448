// Refuses token ids that are outside the model's vocabulary.

import type { GenerateRequest, TokenIds } from "../../../domain/generate.ts";
import type { Refusal } from "../../process/protocol.ts";

/** Returns why token ids cannot be read. `field`: where they come from; `each`: whether the error names the index, too. */
export function unknownToken(tokens: TokenIds, field: string, vocabulary: number, each = true): Refusal | undefined {
  const at = tokens.findIndex((token) => token < 0 || token >= vocabulary);
  if (at < 0) return undefined;
  const [param, must] = each ? [`${field}.${at}`, "be a token id"] : [field, "have token ids"];
  const message = `'${param}' must ${must} from 0 to ${vocabulary - 1} for this model; got ${tokens[at]}.`;
  return { code: "invalid_value", message, param };
}

/** Does the same for a request: for the token ids in its prompt and in its logit biases. */
export function unknownTokenOf(request: GenerateRequest, vocabulary: number): Refusal | undefined {
  const { prompt, promptField, sampling } = request;
  const ids = typeof prompt === "object" ? prompt : [];
  const biased = sampling.logitBias?.map(([token]) => token) ?? [];
  return (
    unknownToken(ids, promptField ?? "prompt", vocabulary, promptField !== undefined) ??
    unknownToken(biased, "logit_bias", vocabulary, false)
  );
}
