// API description: slots, in the form of llama.cpp's server.

import { SLOT_ACTIONS } from "../../contract/slots.ts";
import { MOST_SLOT_ACTIONS } from "../../service/few-at-once.ts";
import { badRequest, engineUnavailable, tooLarge, unavailableWhen, type Operations } from "./operation.ts";

export const slotsOperations: Operations = {
  "POST /slots/{id_slot}": {
    summary: "Save, restore or erase a slot, in llama.cpp's form",
    description: `Needs --slot-save-path. A slot holds the tokens of the last ended request whose id_slot is its number.
Requests without id_slot count as slot 0; numbers from --parallel on are taken modulo --parallel. action=save writes the
tokens and their state to the file, as far as the prefix cache still has them: n_saved is their number. action=restore
puts them back into the prefix cache, also after a restart: the next request that begins with them computes only the
rest, whatever its slot. action=erase removes them from the cache, except for what other slots hold, and takes no body.
With recurrent and hybrid models a request must continue all that was restored. An action waits while running requests
hold all sequences or cells.`,
    query: { action: { required: true, schema: { type: "string", enum: [...SLOT_ACTIONS] } } },
    answers: { 200: "The slot, and how much was saved, restored or erased." },
    errors: {
      400: `${badRequest} \`invalid_value\` with the param filename: there is no such file, it is damaged, or it belongs to another model, version or type of KV cache.`,
      413: tooLarge("1 MiB"),
      500: "`engine_crashed`: the engine process ended while it restored the slot; it is restarted.",
      501: "`mode_unavailable`: the server was started without --slot-save-path.",
      503: unavailableWhen(
        `${MOST_SLOT_ACTIONS} actions are already running or waiting, or there is too little memory`,
        "`storage_unavailable`: the folder cannot be used.",
        engineUnavailable,
      ),
      507: "`storage_full`: the disk with the folder is full, or would keep less than 256 MiB (on a small disk: 2 %) free.",
    },
    example: { filename: "system-prompt.bin" },
  },
};
