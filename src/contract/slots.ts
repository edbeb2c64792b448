// POST /slots/{id_slot}: saves slots to files, restores and erases them, in the form of llama.cpp's server.

import { t, type Static } from "./schema.ts";

export const SLOT_ACTIONS = ["save", "restore", "erase"] as const;

/** The body of save and restore. */
export const SlotFile = t.Object({
  filename: t.String({ minLength: 1, description: "A plain name, in the folder of --slot-save-path." }),
});

const slot = { id_slot: t.Integer() };
const named = { ...slot, filename: t.String() };

const SlotSaved = t.Object({
  ...named,
  n_saved: t.Integer({ description: "Tokens; 0 where the slot holds nothing." }),
  n_written: t.Integer({ description: "Bytes of the file." }),
  timings: t.Object({ save_ms: t.Number() }),
});
const SlotRestored = t.Object({
  ...named,
  n_restored: t.Integer({ description: "Tokens." }),
  n_read: t.Integer({ description: "Bytes of the file." }),
  timings: t.Object({ restore_ms: t.Number() }),
});
const SlotErased = t.Object({ ...slot, n_erased: t.Integer({ description: "Tokens that the slot held." }) });

export const SlotAnswer = t.Union([SlotSaved, SlotRestored, SlotErased]);
export type SlotAnswer = Static<typeof SlotAnswer>;
