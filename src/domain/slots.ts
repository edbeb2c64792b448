// Slots: numbers under which clients find again what the last request that named one left in the KV cache.

/** What becomes of a slot: its tokens are written to a file, read from one, or forgotten. */
export type SlotAction =
  | { readonly type: "save" | "restore"; readonly slot: number; readonly filename: string }
  | { readonly type: "erase"; readonly slot: number };

export interface SlotOutcome {
  /** Tokens that were saved, restored or forgotten. */
  readonly tokens: number;
  /** Of the file; 0 without one. */
  readonly bytes: number;
  readonly ms: number;
}
