// Refuses token ids that are outside the model's vocabulary.

import { invalidValue, type SvcError } from "../../../domain/errors.ts";
import type { GenerateRequest, TokenIds } from "../../../domain/generate.ts";

/** Returns why token ids cannot be read. `field`: where they come from; `each`: whether the error names the index, too. */
export function unknownToken(tokens: TokenIds, field: string, vocabulary: number, each = true): SvcError | undefined {
  const at = tokens.findIndex((token) => token < 0 || token >= vocabulary);
  const bad = tokens[at];
  if (bad === undefined) return undefined;
  const [param, must] = each ? [`${field}.${at}`, "be a token id"] : [field, "have token ids"];
  return invalidValue(param, `${must} from 0 to ${vocabulary - 1} for this model`, bad);
}

/** Does the same for a request: for the token ids in its prompt and in its logit biases. */
export function unknownTokenOf(request: GenerateRequest, vocabulary: number): SvcError | undefined {
  const { prompt, promptField, sampling } = request;
  const ids = typeof prompt === "object" ? prompt : [];
  const biased = sampling.logitBias?.map(([token]) => token) ?? [];
  return (
    unknownToken(ids, promptField ?? "prompt", vocabulary, promptField !== undefined) ??
    unknownToken(biased, "logit_bias", vocabulary, false)
  );
}
