// Whose clients a path has: by that its errors have the form that they expect.

/** The schema of a path's error bodies, by its name in the API description. */
export type ErrorForm = "Error" | "MessagesError" | "OllamaError" | "SdapiError";

export function errorForm(pathname: string): ErrorForm {
  if (/^(\/v1)?\/messages(\/|$)/.test(pathname)) return "MessagesError";
  if (pathname.startsWith("/sdapi/")) return "SdapiError";
  return pathname.startsWith("/api/") ? "OllamaError" : "Error";
}
