// POST /slots/{id_slot}: saves slots to files, restores and erases them, in the form of llama.cpp's server.

import { t, type Static } from "./schema.ts";

export const SLOT_ACTIONS = ["save", "restore", "erase"] as const;

/** The body of save and restore. */
export const SlotFile = t.Object({
  filename: t.String({
    minLength: 1,
    description: "Name of the file in the folder of --slot-save-path, without a path.",
  }),
});

const slot = { id_slot: t.Integer() };
const named = { ...slot, filename: t.String() };

const SlotSaved = t.Object({
  ...named,
  n_saved: t.Integer({ description: "Saved tokens; 0 if the slot holds nothing." }),
  n_written: t.Integer({ description: "Size of the file in bytes." }),
  timings: t.Object({ save_ms: t.Number() }),
});
const SlotRestored = t.Object({
  ...named,
  n_restored: t.Integer({ description: "Restored tokens." }),
  n_read: t.Integer({ description: "Size of the file in bytes." }),
  timings: t.Object({ restore_ms: t.Number() }),
});
const SlotErased = t.Object({ ...slot, n_erased: t.Integer({ description: "Tokens that the slot held." }) });

export const SlotAnswer = t.Union([SlotSaved, SlotRestored, SlotErased]);
export type SlotAnswer = Static<typeof SlotAnswer>;
