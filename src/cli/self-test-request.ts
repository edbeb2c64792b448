// How the checks of `svc self-test` ask the server.

/** Milliseconds that an answer may take: a slow machine needs most of a minute to load a model and compute. */
const PATIENCE_MS = 120_000;

/** Sends JSON with POST. Throws as `send` does. */
export const ask = (
  url: string,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  send(url, path, { headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });

/** Sends a request, by POST unless `init` names another method. Throws an Error with the message of an answer that is one. */
export async function send(url: string, path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(`${url}${path}`, { method: "POST", signal: AbortSignal.timeout(PATIENCE_MS), ...init });
  if (response.ok) return response;
  const { error } = (await response.json()) as { error?: { message?: string } };
  throw new Error(`status ${response.status}, ${error?.message}`);
}
