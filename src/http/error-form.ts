// Chooses the form of error bodies that a request's client expects.

/** The name of an error body's schema in the API description. */
export type ErrorForm = "Error" | "MessagesError" | "OllamaError" | "SdapiError";

/** Returns whether a client of the Messages API sent the request: all its requests have this header. */
export const isMessagesClient = (headers: Headers): boolean => headers.has("anthropic-version");

/** Returns the form by the path; where two APIs share a path, also by the request's headers. */
export function errorForm(pathname = "", headers?: Headers): ErrorForm {
  if (/^(\/v1)?\/messages(\/|$)/.test(pathname)) return "MessagesError";
  if (headers && /^(\/v1)?\/models(\/|$)/.test(pathname) && isMessagesClient(headers)) return "MessagesError";
  if (pathname.startsWith("/sdapi/")) return "SdapiError";
  return pathname.startsWith("/api/") ? "OllamaError" : "Error";
}
