// The part of the Stable Diffusion web interface's API that clients use to draw: /sdapi/v1/…

import { Elysia } from "elysia";
import { JsonObject } from "../../contract/schema.ts";
import {
  ImageToImageRequest,
  SdapiImages,
  SdapiModels,
  SdapiOptions,
  SdapiOptionsRequest,
  SdapiProgress,
  SdapiSamplers,
  SdapiSchedulers,
  TextToImageRequest,
} from "../../contract/sdapi.ts";
import { collectImages } from "../../dialect/images/encode.ts";
import {
  decodeImageToImage,
  decodeOptions,
  decodeTextToImage,
  type SdapiCall,
  type SdapiEditCall,
} from "../../dialect/sdapi/decode.ts";
import {
  encodeProgress,
  encodeSamplers,
  encodeSchedulers,
  encodeSdapiImages,
  encodeSdapiModels,
} from "../../dialect/sdapi/encode.ts";
import { fieldError, SvcError, withFieldNames } from "../../domain/errors.ts";
import type { ImageService } from "../../service/images.ts";
import type { RequestReport } from "../../service/request.ts";
import { beginJob } from "../begin-job.ts";
import type { AppDeps } from "../deps.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonAnswer, jsonRoute } from "../json-content.ts";
import { jsonResponse, wholeAnswer } from "../json-response.ts";

/** A request that is being drawn. */
interface Running {
  /** The name of the request's API key: callers with other keys neither see nor end the request. */
  readonly apiKey: string | undefined;
  readonly report: RequestReport;
}

/** For tools that support no other API. In this API, the model that draws is a setting of the server. */
export const sdapiRoutes = (deps: AppDeps) => {
  const { bodies, images } = deps;
  const running = new Set<Running>();
  let chosen: string | undefined;

  const draw = async (request: Request, call: SdapiCall | SdapiEditCall): Promise<Response> => {
    const { origin, context, report } = beginJob(deps, request, () => ({ images: call.work.count }));
    const interruption = new AbortController();
    const signal = AbortSignal.any([request.signal, interruption.signal]);
    // Until the request is admitted, and can be cancelled as any other.
    report.cancel = () => {
      report.reason = "cancelled";
      interruption.abort(new SvcError("request_cancelled", "The request was cancelled."));
      return true;
    };
    const model =
      call.model === undefined ? chosen : named(images, call.model, "override_settings.sd_model_checkpoint");
    const entry = { apiKey: context.apiKey, report };
    running.add(entry);
    try {
      const edit = "image" in call && {
        image: await images.picture(call.image, "init_images.0", signal),
        references: [],
        strength: call.strength,
      };
      const run = { ...origin, work: call.work, model, ...(edit && { edit }) };
      return await wholeAnswer(deps.answerBudget, context, async (held) => {
        const drawn = await collectImages(images.draw(run, signal, report), ({ data }) => held.addFile(data));
        const { modelId: name, model: known } = images.model(model);
        const headers = { "Cache-Control": "no-store" };
        return jsonResponse(context, encodeSdapiImages(drawn, call, { name, model: known }), headers);
      });
    } catch (error) {
      throw withFieldNames(error, call.fields);
    } finally {
      running.delete(entry);
    }
  };

  /** Returns the requests with the same API key, the newest last. */
  const own = (request: Request): Running[] => {
    const { apiKey } = deps.contexts.of(request);
    return [...running].filter((one) => one.apiKey === apiKey);
  };

  const known = () => (images.models().length === 0 ? undefined : images.model(chosen));

  return new Elysia({ name: "route.sdapi" })
    .post(
      "/sdapi/v1/txt2img",
      async ({ request }) => draw(request, decodeTextToImage(await bodies.read(request, bodyCeilings.small))),
      jsonRoute(TextToImageRequest, SdapiImages),
    )
    .post(
      "/sdapi/v1/img2img",
      async ({ request }) => draw(request, decodeImageToImage(await bodies.read(request, bodyCeilings.generation))),
      jsonRoute(ImageToImageRequest, SdapiImages),
    )
    .get("/sdapi/v1/options", () => Response.json(optionsOf(known()?.modelId)), jsonAnswer(SdapiOptions))
    .post(
      "/sdapi/v1/options",
      async ({ request }) => {
        const title = decodeOptions(await bodies.read(request, bodyCeilings.small));
        if (title !== undefined) chosen = named(images, title, "sd_model_checkpoint");
        return Response.json({});
      },
      jsonRoute(SdapiOptionsRequest, JsonObject),
    )
    .get(
      "/sdapi/v1/sd-models",
      () => Response.json(encodeSdapiModels(images.models().map(({ modelId }) => modelId))),
      jsonAnswer(SdapiModels),
    )
    .get("/sdapi/v1/samplers", () => Response.json(encodeSamplers(known()?.model)), jsonAnswer(SdapiSamplers))
    .get("/sdapi/v1/schedulers", () => Response.json(encodeSchedulers(known()?.model)), jsonAnswer(SdapiSchedulers))
    .get(
      "/sdapi/v1/progress",
      ({ request }) => {
        const jobs = own(request);
        const drawing = jobs.flatMap(({ report }) => report.progress ?? [])[0];
        return Response.json(encodeProgress(drawing, known()?.stepSeconds, jobs.length));
      },
      jsonAnswer(SdapiProgress),
    )
    .post(
      "/sdapi/v1/interrupt",
      ({ request }) => {
        for (const { report } of own(request)) report.cancel?.();
        return Response.json({});
      },
      jsonAnswer(JsonObject),
    );
};

const optionsOf = (model = "") => ({ sd_model_checkpoint: model, samples_format: "png" });

/** Returns the image model of this title. Throws SvcError. */
function named(images: ImageService, title: string, param: string): string {
  const names = images.models().map(({ modelId }) => modelId);
  if (names.includes(title)) return title;
  const sentence = `must be one of ${names.join(", ") || "the image models, of which there are none"}`;
  throw fieldError("invalid_value", param, sentence);
}
