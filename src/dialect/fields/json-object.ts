// Arguments of a call as an object, for dialects that do not pass them on as text.

/** The object that `json` is; an empty one for text that is none, as where the token limit has cut it. */
export function objectOf(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}
