// API description: slots, in the form of llama.cpp's server.

import { MOST_SLOT_ACTIONS } from "../../service/slots.ts";
import { badRequest, tooLarge, type Operations } from "./operation.ts";

export const slotsOperations: Operations = {
  "POST /slots/{id_slot}": {
    summary: "Save, restore or erase a slot, in llama.cpp's form",
    description: `Needs --slot-save-path. A slot holds the tokens of the last request with its number as id_slot, once that has ended; requests without one
count as slot 0, and numbers from --parallel on begin at 0 again. action=save writes them and their state to the file, as far as the prefix
cache still has them: n_saved says how many. action=restore puts them back into the prefix cache, also after a restart: the next request
that begins with them computes the rest alone, whatever its slot. action=erase forgets them, but for what other slots
hold, and takes no body. With recurrent and hybrid models a request must continue all that was restored. An action waits while running requests hold all sequences or cells.`,
    answers: { 200: "What was done." },
    errors: {
      400: `${badRequest} \`invalid_value\` with the param filename: there is no such file, it is damaged, or of another model, version or KV cache.`,
      413: tooLarge("1 MB"),
      500: "`engine_crashed`: the engine process ended while it restored the slot; it is restarted.",
      501: "`mode_unavailable`: the server was started without --slot-save-path.",
      503: `\`server_busy\`: ${MOST_SLOT_ACTIONS} actions run or wait already, or memory is short. \`storage_unavailable\`: the folder cannot be used. \`engine_unavailable\`: loading the model takes too long, or its engine is down or stalled.`,
      507: "`storage_full`: the disk with the folder is full.",
    },
    example: { filename: "system-prompt.bin" },
  },
};
