// POST /slots/{id_slot}?action=save, restore and erase, as in llama.cpp's server.

import { Elysia } from "elysia";
import { SlotAnswer, SlotFile } from "../../contract/slots.ts";
import { decodeSlot, decodeSlotFile, encodeSlot } from "../../dialect/llama/slots.ts";
import { SvcError } from "../../domain/errors.ts";
import { FewAtOnce, MOST_SLOT_ACTIONS } from "../../service/few-at-once.ts";
import type { AppDeps } from "../deps.ts";
import { bodyCeilings } from "../json-body.ts";
import { optionalRoute } from "../json-content.ts";

/** Saves slots to files, restores and erases them. */
export const slotRoutes = ({ bodies, clock, config, engine, metrics }: AppDeps) => {
  const few = new FewAtOnce(MOST_SLOT_ACTIONS, {
    metrics: metrics.of({ kind: "text", model: engine.status().modelId }),
    clock,
  });
  const act = config.slotSavePath === undefined ? undefined : engine.slot?.bind(engine);
  return new Elysia({ name: "route.slots" }).post(
    "/slots/:id_slot",
    async ({ request, params }) => {
      if (!act) throw withoutSlots();
      const { slot, type } = decodeSlot(params.id_slot, new URL(request.url).searchParams.get("action"));
      const slotAction =
        type === "erase"
          ? { type, slot }
          : { type, slot, filename: decodeSlotFile(await bodies.read(request, bodyCeilings.small)) };
      return Response.json(encodeSlot(slotAction, await few.run(() => act(slotAction, request.signal))));
    },
    optionalRoute(SlotFile, SlotAnswer),
  );
};

const withoutSlots = () =>
  new SvcError("mode_unavailable", "This server does not save slots: it was started without --slot-save-path DIR.");
