// Media in a conversation that were converted to text for a model that cannot take them.

import { t, type Static } from "./schema.ts";

const common = {
  param: t.String({ description: "The field that it came in." }),
  model: t.String({ description: "That recognised it." }),
};

export const TranscribedInput = t.Object({
  ...common,
  text: t.String({ description: "What took its place in the prompt." }),
  locale: t.String({ description: "Code of the language." }),
  duration: t.Number({ description: "Seconds that the sound plays." }),
});

export const RecognizedInput = t.Object({
  ...common,
  text: t.String({
    description: "The text in its place in the prompt; empty where there is no text.",
  }),
  page_count: t.Integer({ description: "Pages of the picture or document." }),
});

/** Fields of answers, with --transcribe-input and --ocr-input. */
export const readInputs = {
  svc_transcriptions: t.Optional(t.Array(TranscribedInput)),
  svc_recognitions: t.Optional(t.Array(RecognizedInput)),
};

export type TranscribedInput = Static<typeof TranscribedInput>;
export type RecognizedInput = Static<typeof RecognizedInput>;
