// The page of the API description: Swagger UI over /openapi.json.

import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";

document.documentElement.classList.toggle("dark-mode", matchMedia("(prefers-color-scheme: dark)").matches);
SwaggerUI({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
  filter: true,
  tryItOutEnabled: true,
  // It would ask a server elsewhere whether the description is right.
  validatorUrl: null,
});
