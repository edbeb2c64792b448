// Commands for the native library: what it does to the KV cache, in order, before the next decode call.

import type { MediaSpan } from "../media-span.ts";
import type { DiskId } from "./disk-cache.ts";
import type { HostId } from "./host-entries.ts";

/** The conversation that an entry outside the KV cache is of. */
export interface KvEntry {
  readonly ids: Int32Array;
  /** Key of the LoRA adapters that computed it, by their files. */
  readonly adapterKey: string;
  readonly media: readonly MediaSpan[];
}

export type KvCommand =
  /** Ends the chunk that is computed in slices; its cells are empty again. */
  | { readonly type: "abandon" }
  /** Clears a sequence from a position on; `cells`: gives back the memory behind so many. */
  | { readonly type: "trim"; readonly sequence: number; readonly position: number; readonly cells?: number }
  /** Makes the prefix of one sequence, up to a position and in so many cells, all of another. */
  | {
      readonly type: "copy";
      readonly from: number;
      readonly to: number;
      readonly position: number;
      readonly cells: number;
    }
  /** Appends what a sequence holds from one position to another, or to its end (-1), to an entry of the host cache. */
  | {
      readonly type: "offload";
      readonly sequence: number;
      readonly hostId: HostId;
      readonly from: number;
      readonly to: number;
    }
  /** Makes an entry of the host cache all of a sequence. */
  | { readonly type: "restore"; readonly sequence: number; readonly hostId: HostId }
  /** Frees an entry of the host cache. */
  | { readonly type: "drop"; readonly hostId: HostId }
  /** Moves an entry of the host cache to the disk cache; the engine reports when it is there. */
  | ({ readonly type: "write"; readonly hostId: HostId } & KvEntry)
  /** Reads an entry of the disk cache into the host cache; the engine reports when it is there. */
  | { readonly type: "read"; readonly diskId: DiskId; readonly hostId: HostId }
  /** Deletes an entry of the disk cache. */
  | { readonly type: "delete"; readonly diskId: DiskId };
