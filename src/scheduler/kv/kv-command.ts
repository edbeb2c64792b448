// What the native library is to do to the KV cache, in order, before the next decode call.

import type { MediaSpan } from "../media-span.ts";
import type { SavedId } from "./host-entries.ts";
import type { StoredId } from "./prefix-index.ts";

export type KvCommand =
  /** Ends the chunk that is computed in slices; its cells are empty again. */
  | { readonly type: "abandon" }
  /** Clears a sequence from a position on. */
  | { readonly type: "remove"; readonly sequence: number; readonly position: number }
  /** Makes the beginning of one sequence, up to a position, all of another. */
  | { readonly type: "copy"; readonly from: number; readonly to: number; readonly position: number }
  /** Keeps what a sequence holds from one position to another, or to its end (-1), in host memory behind what is there. */
  | {
      readonly type: "save";
      readonly sequence: number;
      readonly saved: SavedId;
      readonly from: number;
      readonly to: number;
    }
  /** Makes what was kept all of a sequence. */
  | { readonly type: "restore"; readonly sequence: number; readonly saved: SavedId }
  /** It is not needed any more. */
  | { readonly type: "forget"; readonly saved: SavedId }
  /** Moves what was kept from host memory to disk; the engine says when it is there. */
  | {
      readonly type: "store";
      readonly saved: SavedId;
      readonly ids: Int32Array;
      readonly adapterKey: string;
      readonly media: readonly MediaSpan[];
    }
  /** Keeps what is on disk in host memory too; the engine says when it is there. */
  | { readonly type: "load"; readonly stored: StoredId; readonly saved: SavedId }
  /** It is not needed on disk any more. */
  | { readonly type: "erase"; readonly stored: StoredId };
