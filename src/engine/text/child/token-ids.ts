// Refuses token ids that are outside the model's vocabulary.

import type { GenerateRequest, TokenIds } from "../../../domain/generate.ts";
import type { Refusal } from "../../process/protocol.ts";

/** Returns why token ids cannot be read, with the index of the first unknown one. `field`: where they come from. */
export function unknownToken(tokens: TokenIds, field: string, vocabulary: number): Refusal | undefined {
  const wrong = indexOfUnknown(tokens, vocabulary);
  return wrong < 0 ? undefined : refusal(`${field}.${wrong}`, "be a token id", vocabulary, tokens[wrong]);
}

/** Does the same for a request: for the token ids in its prompt and in its logit biases. */
export function unknownTokenOf(request: GenerateRequest, vocabulary: number): Refusal | undefined {
  const { prompt, promptField, sampling } = request;
  return (
    (typeof prompt === "object" ? unknownPromptToken(prompt, promptField, vocabulary) : undefined) ??
    unknownIn(sampling.logitBias?.map(([token]) => token) ?? [], "logit_bias", vocabulary)
  );
}

const unknownPromptToken = (prompt: TokenIds, field: string | undefined, vocabulary: number) =>
  field === undefined ? unknownIn(prompt, "prompt", vocabulary) : unknownToken(prompt, field, vocabulary);

function unknownIn(tokens: TokenIds, field: string, vocabulary: number): Refusal | undefined {
  const wrong = indexOfUnknown(tokens, vocabulary);
  return wrong < 0 ? undefined : refusal(field, "have token ids", vocabulary, tokens[wrong]);
}

const indexOfUnknown = (tokens: TokenIds, vocabulary: number): number =>
  tokens.findIndex((token) => token < 0 || token >= vocabulary);

const refusal = (param: string, must: string, vocabulary: number, got: number | undefined): Refusal => ({
  code: "invalid_value",
  message: `'${param}' must ${must} from 0 to ${vocabulary - 1} for this model; got ${got}.`,
  param,
});
