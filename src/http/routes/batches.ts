// /v1/batches: creating, listing, fetching and cancelling batch jobs.

import { Elysia } from "elysia";
import { Batch, BatchList, BatchRequest } from "../../contract/batches.ts";
import { decodeBatch } from "../../dialect/batches/decode.ts";
import { encodeBatch, encodeBatches } from "../../dialect/batches/encode.ts";
import { decodePage } from "../../dialect/fields/page.ts";
import type { BatchesService } from "../../service/batch/batches.ts";
import { BATCH_CAPABILITIES } from "../batch-answers.ts";
import type { AppDeps } from "../deps.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonAnswer, jsonRoute } from "../json-content.ts";

/** Routes of batch jobs, whose work runs without a request. */
export const batchRoutes = (batches: BatchesService, { bodies, router, config }: AppDeps) =>
  new Elysia({ name: "route.batches" })
    .post(
      "/v1/batches",
      async ({ request }) => {
        const call = decodeBatch(await bodies.read(request, bodyCeilings.small), config.batchEndpoints);
        const usual = router.usual(BATCH_CAPABILITIES[call.endpoint]);
        return Response.json(encodeBatch(await batches.create(call, usual?.model ?? "")));
      },
      jsonRoute(BatchRequest, Batch),
    )
    .get(
      "/v1/batches",
      ({ request }) => {
        const page = decodePage(new URL(request.url).searchParams);
        return Response.json(encodeBatches(batches.list(page)));
      },
      jsonAnswer(BatchList),
    )
    .get("/v1/batches/:id", ({ params }) => Response.json(encodeBatch(batches.get(params.id))), jsonAnswer(Batch))
    .post(
      "/v1/batches/:id/cancel",
      async ({ params }) => Response.json(encodeBatch(await batches.cancel(params.id))),
      jsonAnswer(Batch),
    );
