// The models, as the API description tells it.

import type { Operations } from "./operation.ts";

export const modelsOperations: Operations = {
  "GET /v1/models": {
    tag: "Models",
    summary: "List the models that can be asked",
    description:
      "The model of this server, and with --gateway or --upstream those of other servers as `name/model`; loaded ones first, otherwise in a stable order. `loaded` is false while a model is loading or its server is out of reach. `models` says what each can do. The context length is given under every name that clients look for, where it is known. `svc-system` (owned_by `system`) is the small model that every svc has: an engine of its own answers requests that name it, started by the first and stopped after five idle minutes, or the main one where svc-mini is what is served; until then `loaded` is false. It takes temperature, top_p, seed, the length, stop, tools, response_format and reasoning; other sampling fields, logprobs (which come empty) and X-Svc-Profile are ignored, grammar and media refused with 400 `unsupported_parameter`; a prompt and its answer have 4096 tokens together; it has no public tokenizer, and it never answers for another model. A request that another svc passed on (header Via) is told of the models computed here alone.",
    answers: { 200: "The models that can be asked." },
  },
  "GET /v1/models/{id}": {
    tag: "Models",
    summary: "Describe a model by its name",
    description:
      "The entry of the list; a slash in the name may be written as it is or as %2F. Other routes answer with the active model when a request names one that is unknown; this one does not.",
    answers: { 200: "The model." },
    errors: { 404: "No model of this name is served." },
  },
};
