// The interface through which a batch has its lines answered: by the batch's endpoint, in the background.

/** The origin of a line's request. */
interface LineOrigin {
  readonly id: string;
  /** Id of the batch. */
  readonly client: string;
}

/** The body of a line, never as a stream. */
export type LineBody = Readonly<Record<string, unknown>>;

/** Answers a body as the endpoint does. Throws what the endpoint throws, or the signal's reason. */
export type AnswerLine = (body: LineBody, own: LineOrigin, signal: AbortSignal) => Promise<unknown>;
