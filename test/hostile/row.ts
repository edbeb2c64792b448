// What a file of attacks takes and returns.

export interface Row {
  /** The promise, in terms of a user. */
  readonly promise: string;
  /** The attack. */
  readonly attack: string;
  /** What was measured; of each unit, the figure that is limited comes first. */
  readonly figure: string;
  /** The largest allowed values, separated by commas. */
  readonly limit: string;
  readonly ok: boolean;
  /** llama-server's result for the same attack. */
  readonly theirs?: string;
}

/** What the command line says for attacks; each has its own defaults. */
export interface Options {
  /** Part of the names of the attacks to run. */
  readonly attack?: string;
  /** Requests, or damaged files of each kind. */
  readonly count?: number;
  readonly kills?: number;
  readonly seed?: number;
  readonly workers?: number;
}
