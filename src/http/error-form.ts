// Whose clients a request comes from: by that its errors have the form that they expect.

/** The schema of an error body, by its name in the API description. */
export type ErrorForm = "Error" | "MessagesError" | "OllamaError" | "SdapiError";

/** Whether a client of the messages convention asks: each of its requests says so. */
export const isMessagesClient = (headers: Headers): boolean => headers.has("anthropic-version");

/** By the path; where two conventions share it, by the request's headers too. */
export function errorForm(pathname = "", headers?: Headers): ErrorForm {
  if (/^(\/v1)?\/messages(\/|$)/.test(pathname)) return "MessagesError";
  if (headers && /^(\/v1)?\/models(\/|$)/.test(pathname) && isMessagesClient(headers)) return "MessagesError";
  if (pathname.startsWith("/sdapi/")) return "SdapiError";
  return pathname.startsWith("/api/") ? "OllamaError" : "Error";
}
