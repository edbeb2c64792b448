// Images from http(s) URLs: a client decides where the server connects to, so every step is checked and bounded.

import { resolveHost } from "./addresses.ts";
import type { MediaLimits } from "./limits.ts";
import { checkSize, Refusal } from "./refusal.ts";

/** Fetches at most `limits.maxImageBytes`. Throws Refusal, or the signal's reason; leaves no connection open. */
export async function fetchImage(url: string, limits: MediaLimits, signal: AbortSignal): Promise<Uint8Array> {
  if (!limits.fetch) throw new Refusal("be a data: URL, as this server fetches nothing", "an http(s) URL");
  const stop = new AbortController();
  const forward = () => stop.abort(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener("abort", forward, { once: true });
  const tooSlow = new Refusal(`be fetched within ${limits.fetchTimeoutMs} ms`, "a server that takes longer");
  const timer = setTimeout(() => stop.abort(tooSlow), limits.fetchTimeoutMs);
  try {
    const response = await follow(url, limits.maxRedirects, stop.signal);
    return await readBody(response, limits.maxImageBytes);
  } catch (error) {
    stop.signal.throwIfAborted();
    if (error instanceof Refusal) throw error;
    throw new Refusal("be a URL that can be fetched", "a connection that failed");
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", forward);
    // Closes whatever is still connected: a body that was not read to its end, the way to a redirect.
    stop.abort();
  }
}

async function follow(url: string, maxRedirects: number, signal: AbortSignal): Promise<Response> {
  let target = checkedUrl(url);
  for (let redirects = 0; ; redirects++) {
    const response = await get(target, signal);
    if (response.ok) return response;
    await response.body?.cancel();
    if (![301, 302, 303, 307, 308].includes(response.status)) {
      throw new Refusal("be a URL that answers with an image", `status ${response.status}`);
    }
    if (redirects === maxRedirects) throw new Refusal(`lead there in at most ${maxRedirects} redirects`, "one more");
    target = checkedUrl(response.headers.get("location") ?? "", target);
  }
}

/** Throws Refusal unless this is an http(s) URL without credentials. */
function checkedUrl(text: string, base?: URL): URL {
  const what = base ? "a redirect to something else" : "a URL that is not valid";
  const url = URL.parse(text, base?.href);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    throw new Refusal("lead to an http or https URL", what);
  }
  if (url.username || url.password) {
    throw new Refusal("have no user name and no password", base ? "a redirect with them" : "a URL with them");
  }
  return url;
}

/** Connects to the very address that was checked: asked again, a name may have another. */
async function get(url: URL, signal: AbortSignal): Promise<Response> {
  let failure: unknown;
  for (const { address, family } of await resolveHost(url.hostname, signal)) {
    const pinned = new URL(url);
    pinned.hostname = family === 6 ? `[${address}]` : address;
    const named = pinned.hostname !== url.hostname;
    try {
      return await fetch(pinned, {
        redirect: "manual",
        keepalive: false,
        signal,
        headers: { host: url.host, accept: "image/*", "accept-encoding": "identity", "user-agent": "svc" },
        ...(named && { tls: { serverName: url.hostname } }),
      });
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
    }
  }
  throw failure;
}

async function readBody(response: Response, limit: number): Promise<Uint8Array> {
  const announced = Number(response.headers.get("content-length") ?? Number.NaN);
  if (announced >= 0) checkSize(announced, limit);
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body ?? []) {
    length += piece.length;
    if (length > limit) throw new Refusal(`be at most ${limit / 1e6} MB`, "a stream of more");
    pieces.push(piece);
  }
  checkSize(length, limit);
  return Buffer.concat(pieces);
}
