// The models, as the API description tells it.

import type { Operations } from "./operation.ts";

export const modelsOperations: Operations = {
  "GET /v1/models": {
    tag: "Models",
    summary: "List the models that can be asked",
    description:
      "`loaded` is false while the model is loading; requests wait for it. The context length is given under every name that clients look for.",
    answers: { 200: "The models that can be asked." },
  },
  "GET /v1/models/{id}": {
    tag: "Models",
    summary: "Describe a model by its name",
    description: "The entry of the list. Other routes answer whatever model a request names; this one does not.",
    answers: { 200: "The model." },
    errors: { 404: "No model of this name is served." },
  },
};
