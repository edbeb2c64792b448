// Media in a conversation that were converted to text for a model that cannot take them.

import { t, type Static } from "./schema.ts";

const common = {
  param: t.String({ description: "The field of the request that had the sound or image." }),
  model: t.String({ description: "The model that recognised the text." }),
};

export const TranscribedInput = t.Object({
  ...common,
  text: t.String({ description: "The text that replaced the sound in the prompt." }),
  locale: t.String({ description: "Language code of the speech." }),
  duration: t.Number({ description: "Duration of the sound in seconds." }),
});

export const RecognizedInput = t.Object({
  ...common,
  text: t.String({
    description: "The text that replaced the image in the prompt; empty if there is no text.",
  }),
  page_count: t.Integer({ description: "Number of pages of the image or document." }),
});

/** Fields of answers, with --transcribe-input and --ocr-input. */
export const readInputs = {
  svc_transcriptions: t.Optional(t.Array(TranscribedInput)),
  svc_recognitions: t.Optional(t.Array(RecognizedInput)),
};

export type TranscribedInput = Static<typeof TranscribedInput>;
export type RecognizedInput = Static<typeof RecognizedInput>;
