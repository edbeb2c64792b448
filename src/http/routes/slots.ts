// POST /slots/{id_slot}?action=save, restore and erase, as in llama.cpp's server.

import { Elysia } from "elysia";
import { SLOT_ACTIONS, SlotAnswer, SlotFile } from "../../contract/slots.ts";
import { decodeSlot, decodeSlotFile, encodeSlot } from "../../dialect/llama/slots.ts";
import { SlotService } from "../../service/slots.ts";
import type { AppDeps } from "../deps.ts";
import { bodyCeilings } from "../json-body.ts";
import { optionalRoute } from "../json-content.ts";

const schema = { type: "string" as const, enum: [...SLOT_ACTIONS] };

const action = { name: "action", in: "query", required: true, schema };

/** Saves slots to files, restores and erases them. */
export const slotRoutes = ({ bodies, clock, config, engine, metrics }: AppDeps) => {
  const slots = new SlotService({
    engine,
    isEnabled: config.slotSavePath !== undefined,
    metrics: metrics.of({ kind: "text", model: engine.status().modelId }),
    clock,
  });
  return new Elysia({ name: "route.slots" }).post(
    "/slots/:id_slot",
    async ({ request, params }) => {
      slots.check();
      const { slot, type } = decodeSlot(params.id_slot, new URL(request.url).searchParams.get("action"));
      const slotAction =
        type === "erase"
          ? { type, slot }
          : { type, slot, filename: decodeSlotFile(await bodies.read(request, bodyCeilings.small)) };
      return Response.json(encodeSlot(slotAction, await slots.run(slotAction, request.signal)));
    },
    optionalRoute(SlotFile, SlotAnswer, [action]),
  );
};
