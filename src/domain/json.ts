// Reading JSON whose form is unknown.

export type JsonObject = Record<string, unknown>;

/** Returns the value of a JSON text; undefined for other text. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
