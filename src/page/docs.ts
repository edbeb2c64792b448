// The page of the API reference: Swagger UI for /openapi.json.

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
  // Keeps Swagger UI from sending the description to a public validator.
  validatorUrl: null,
  // The list of servers, which only has this one.
  plugins: [{ wrapComponents: { ServersContainer: () => () => null } }],
});
