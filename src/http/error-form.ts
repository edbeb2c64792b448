// Whose clients a path has: by that its errors have the form that they expect.

/** The schema of a path's error bodies, by its name in the API description. */
export type ErrorForm = "Error" | "MessagesError" | "OllamaError";

export function errorForm(pathname: string): ErrorForm {
  if (/^\/v1\/messages(\/|$)/.test(pathname)) return "MessagesError";
  return pathname.startsWith("/api/") ? "OllamaError" : "Error";
}
