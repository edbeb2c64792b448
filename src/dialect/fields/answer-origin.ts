// What identifies one answer of the Chat Completions and Completions APIs.

/** The same in every chunk of a stream. */
export interface AnswerOrigin {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly systemFingerprint: string;
}

/** The fields that an answer begins with. */
export const answerHead = <Type extends string>(origin: AnswerOrigin, object: Type) => {
  const { id, created, model, systemFingerprint } = origin;
  return { id, object, created, model, system_fingerprint: systemFingerprint };
};

/** The same fields as the beginning of a chunk's JSON text, for more to follow behind a comma. */
export const chunkHead = (origin: AnswerOrigin, object: string): string =>
  JSON.stringify(answerHead(origin, object)).slice(0, -1);
