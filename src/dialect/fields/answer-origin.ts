// What identifies one answer of the chat and completions conventions.

/** The same in every chunk of a stream. */
export interface AnswerOrigin {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly systemFingerprint: string;
}
