// Commands for the native library: the changes to the KV cache that it makes, in order, before the next decode call.

import type { DiskId } from "./disk-cache.ts";
import type { HostId } from "./host-entries.ts";
import type { Prefix } from "./prefix-index.ts";

export type KvCommand =
  /** Ends the chunk that is being computed in slices; its cells are then empty again. */
  | { readonly type: "abandon" }
  /** Clears a sequence from a position on; `cells`: also releases the memory after this many cells. */
  | { readonly type: "trim"; readonly sequence: number; readonly position: number; readonly cells?: number }
  /** Replaces sequence `to` by the prefix of sequence `from` that ends before `position` and takes `cells` cells. */
  | {
      readonly type: "copy";
      readonly from: number;
      readonly to: number;
      readonly position: number;
      readonly cells: number;
    }
  /** Replaces sequence `to` by sequence `from`, which is empty afterwards. */
  | { readonly type: "move"; readonly from: number; readonly to: number }
  /** Appends the state of a sequence between two positions, or up to its end (-1), to an entry of the host cache. */
  | {
      readonly type: "offload";
      readonly sequence: number;
      readonly hostId: HostId;
      readonly from: number;
      readonly to: number;
    }
  /** Replaces the whole state of a sequence by an entry of the host cache. */
  | { readonly type: "restore"; readonly sequence: number; readonly hostId: HostId }
  /** Frees an entry of the host cache. */
  | { readonly type: "drop"; readonly hostId: HostId }
  /** Moves an entry of the host cache, last used at `at`, to the disk cache; the engine reports when it is written. */
  | ({ readonly type: "write"; readonly hostId: HostId; readonly at: number } & Prefix)
  /** Reads an entry of the disk cache into the host cache; the engine reports when it is read. */
  | { readonly type: "read"; readonly diskId: DiskId; readonly hostId: HostId }
  /** Deletes an entry of the disk cache. */
  | { readonly type: "delete"; readonly diskId: DiskId };
