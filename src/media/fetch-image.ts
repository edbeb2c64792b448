// Fetches images from http(s) URLs. Clients choose where the server connects to, so every step is checked and bounded.

import { lookup } from "node:dns/promises";
import { allowedAddresses, type Lookup } from "./addresses.ts";
import type { MediaLimits } from "./limits.ts";
import { checkSize, Refusal } from "./refusal.ts";

/** Name resolution and requests, replaceable in tests. */
interface Network {
  readonly lookup: Lookup;
  readonly fetch: (url: URL, init: BunFetchRequestInit) => Promise<Response>;
}

const realNetwork: Network = { lookup: (hostname) => lookup(hostname, { all: true }), fetch };

/**
 * Fetches at most `limits.maxImageBytes`; leaves no connection open. Throws Refusal, or the signal's reason. All
 * failures on the way to an image have the same message: different ones would reveal the network to clients.
 */
export async function fetchImage(
  url: string,
  limits: MediaLimits,
  signal: AbortSignal,
  network = realNetwork,
): Promise<Uint8Array> {
  if (!limits.fetch) throw new Refusal("be a data: URL, as this server fetches nothing", "an http(s) URL");
  const target = webUrl(url);
  if (!target) throw new Refusal("lead to an http or https URL", "a URL that is not valid");
  if (hasCredentials(target)) throw new Refusal("have no user name and no password", "a URL with them");
  signal.throwIfAborted();
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal, AbortSignal.timeout(limits.fetchTimeoutMs)]);
  try {
    const response = await follow(target, limits, ended, network);
    if (response) return await readBody(response, limits.maxImageBytes);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Refusal) throw error;
  } finally {
    // Closes connections that are still open: an unread body, the requests before a redirect.
    stop.abort();
  }
  throw notFetched(limits);
}

function notFetched({ fetchPrivate, fetchTimeoutMs, maxRedirects }: MediaLimits): Refusal {
  const image = fetchPrivate ? "an image" : "an image at a public address";
  const rule = `lead to ${image} within ${fetchTimeoutMs / 1000} s and ${maxRedirects} redirects`;
  return new Refusal(rule, "a URL that does not");
}

/** Follows redirects to the final response; returns undefined when there is none. */
async function follow(url: URL, limits: MediaLimits, signal: AbortSignal, network: Network) {
  let target: URL | undefined = url;
  for (let redirects = 0; target && redirects <= limits.maxRedirects; redirects++) {
    const response = await get(target, limits, signal, network);
    if (!response || response.ok) return response;
    await response.body?.cancel();
    if (![301, 302, 303, 307, 308].includes(response.status)) return undefined;
    target = webUrl(response.headers.get("location") ?? "", target);
    if (target && hasCredentials(target)) return undefined;
  }
  return undefined;
}

/** Returns the URL when it is http(s) with a host. */
function webUrl(text: string, base?: URL): URL | undefined {
  const url = URL.parse(text, base?.href);
  return url && /^https?:$/.test(url.protocol) && url.hostname !== "" ? url : undefined;
}

const hasCredentials = ({ username, password }: URL): boolean => username !== "" || password !== "";

/** Connects to the address that was checked, since a second lookup of the name may give another. */
async function get(url: URL, { fetchPrivate }: MediaLimits, signal: AbortSignal, network: Network) {
  for (const { address, family } of await allowedAddresses(url.hostname, fetchPrivate, network.lookup, signal)) {
    const pinned = new URL(url);
    pinned.hostname = family === 6 ? `[${address}]` : address;
    const named = pinned.hostname !== url.hostname;
    try {
      return await network.fetch(pinned, {
        redirect: "manual",
        keepalive: false,
        signal,
        headers: { host: url.host, accept: "image/*", "accept-encoding": "identity", "user-agent": "svc" },
        ...(named && { tls: { serverName: url.hostname } }),
      });
    } catch {
      signal.throwIfAborted();
    }
  }
  return undefined;
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
