// Slots: numbers by which clients refer to what the last request with that slot left in the KV cache.

/** An action on a slot: its tokens are written to a file, read from a file, or forgotten. */
export type SlotAction =
  | { readonly type: "save" | "restore"; readonly slot: number; readonly filename: string }
  | { readonly type: "erase"; readonly slot: number };

export interface SlotOutcome {
  /** How many tokens were saved, restored or forgotten. */
  readonly tokens: number;
  /** Size of the file; 0 without a file. */
  readonly bytes: number;
  readonly ms: number;
}
