// Fields of OpenAI's API that have no effect on models computed here, and that an upstream may honour.

export const HINTS = [
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "service_tier",
  "verbosity",
  "store",
  "metadata",
  "prediction",
] as const;

type Hint = (typeof HINTS)[number];

/** Values by field, as the client sent them. */
export type Hints = Readonly<Partial<Record<Hint, unknown>>>;

/** Returns those of an object's fields that are hints with a value. */
export function hintsOf(fields: object, names: readonly Hint[] = HINTS): { readonly hints?: Hints } {
  const given = Object.entries(fields).filter(
    ([name, value]) => value != null && (names as readonly string[]).includes(name),
  );
  return given.length > 0 ? { hints: Object.fromEntries(given) } : {};
}
