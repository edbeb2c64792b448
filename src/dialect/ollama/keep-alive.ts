// The field `keep_alive` of Ollama's API: how long a model stays loaded.

/** Returns whether `keep_alive` is zero, also as text with a unit: the client no longer needs the model. */
export const unloads = (keepAlive: number | string | null | undefined): boolean => /^0+[a-z]*$/.test(String(keepAlive));
