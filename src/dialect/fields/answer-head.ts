// Identifies one answer of the Chat Completions and Completions APIs.

/** The same in every chunk of a stream. */
export interface AnswerOrigin {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly systemFingerprint: string;
}

/** Returns the fields that an answer begins with. */
export const answerHead = <Type extends string>(origin: AnswerOrigin, object: Type) => {
  const { id, created, model, systemFingerprint } = origin;
  return { id, object, created, model, system_fingerprint: systemFingerprint };
};

/** Returns the same fields as the beginning of a chunk's JSON text; further members follow after a comma. */
export const chunkHead = (origin: AnswerOrigin, object: string): string =>
  JSON.stringify(answerHead(origin, object)).slice(0, -1);
