// How the lines of a batch are answered: by the endpoint that the batch is for, in the background.

/** Whose request a line is. */
export interface LineOrigin {
  readonly id: string;
  /** The batch. */
  readonly client: string;
}

/** The body of a line, never as a stream. */
type LineBody = Readonly<Record<string, unknown>>;

/** Answers a body, as its endpoint does. Throws what that throws, or the signal's reason. */
export type AnswerLine = (body: LineBody, own: LineOrigin, signal: AbortSignal) => Promise<unknown>;
