// Sends the requests of downloads: follows redirects, sends the token only to the hub, explains refusals plainly.

import { retryAfterMs } from "../../domain/retry-after.ts";
import { systemErrorCode } from "../../domain/system-error-code.ts";
import { PassingError, PullError } from "./pull-error.ts";
import { retrying, whileAlive, type RetryOptions } from "./retry.ts";

export interface Hub {
  /** Origin of the hub or a mirror, without a trailing slash. */
  readonly endpoint: string;
  readonly token?: string;
  readonly userAgent: string;
  /** Base URL of PyPI's files, without a trailing slash; absent: PyPI's own. */
  readonly wheels?: string;
}

interface HubAnswer {
  readonly response: Response;
  /** What the hub reported about the file before it redirected the request to the storage. */
  readonly linked: { readonly etag?: string; readonly bytes?: number };
  readonly host: string;
}

const MOST_REDIRECTS = 10;
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/** `subject` names the requested repository or host in messages. Headers are sent to every host on the way. */
interface GetOptions {
  readonly subject: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/**
 * Sends a GET request and follows redirects; only the hub's origin gets the token. Returns an answer of status 200, 206
 * or 416. Throws PullError, or PassingError when another attempt may succeed.
 */
export async function get(hub: Hub, start: string, { subject, headers = {}, signal }: GetOptions): Promise<HubAnswer> {
  let url = new URL(start);
  let linked: HubAnswer["linked"] = {};
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    const response = await send(url, { ...headers, ...ownHeaders(hub, url) }, signal);
    linked = { ...linkedTo(response), ...linked };
    const location = response.headers.get("location");
    if (response.status >= 300 && response.status < 400 && location !== null) {
      await response.body?.cancel();
      url = redirected(url, location);
      continue;
    }
    if ([200, 206, 416].includes(response.status)) return { response, linked, host: url.host };
    await response.body?.cancel();
    throw refusal(response, subject, url, hub);
  }
  throw new PullError(`${subject}: more than ${MOST_REDIRECTS} redirects.`);
}

interface Wanted {
  readonly subject: string;
  /** Maximum bytes of the answer. */
  readonly most: number;
}

/** Requests a text, again where that may help. Throws PullError. */
export const getText = (
  hub: Hub,
  url: string,
  wanted: Wanted,
  options: RetryOptions,
): Promise<HubAnswer & { readonly text: string }> =>
  retrying(async () => {
    const { bytes, ...answer } = await getBytes(hub, url, wanted, options);
    return { ...answer, text: new TextDecoder().decode(bytes) };
  }, options);

/**
 * Requests bytes and reads them into memory; `arrived` is called with the number of bytes so far, and of all if known.
 * Throws PullError, or PassingError when another attempt may succeed.
 */
export function getBytes(
  hub: Hub,
  url: string,
  { subject, most }: Wanted,
  { signal, patience: { idleMs } }: Pick<RetryOptions, "signal" | "patience">,
  arrived: (received: number, total?: number) => void = () => {},
): Promise<HubAnswer & { readonly bytes: Uint8Array<ArrayBuffer> }> {
  const host = new URL(url).host;
  return whileAlive(
    { signal, idleMs },
    async (ended, alive) => {
      const answer = await get(hub, url, { subject, signal: ended });
      const { response, host } = answer;
      const total = Number(response.headers.get("content-length") ?? Number.NaN);
      const pieces: Uint8Array[] = [];
      let received = 0;
      for await (const piece of response.body ?? []) {
        alive();
        received += piece.length;
        if (received > most) throw new PullError(`${host} sends more for ${subject} than there can be.`);
        pieces.push(piece);
        arrived(received, Number.isFinite(total) ? total : undefined);
      }
      return { ...answer, bytes: new Uint8Array(Buffer.concat(pieces)) };
    },
    (isSilent) => (isSilent ? `${host} does not answer` : `The connection to ${host} was lost`),
  );
}

async function send(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, { headers, signal, redirect: "manual" });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new PassingError(`${url.host} cannot be reached (${systemErrorCode(error) ?? "unknown"})`);
  }
}

/** Returns headers that request uncompressed bytes, because an offset into a compressed stream is useless. */
function ownHeaders({ endpoint, token, userAgent }: Hub, url: URL): Record<string, string> {
  const mayKnow = token !== undefined && url.origin === new URL(endpoint).origin;
  return {
    "user-agent": userAgent,
    "accept-encoding": "identity",
    ...(mayKnow && { authorization: `Bearer ${token}` }),
  };
}

function redirected(from: URL, location: string): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from.href) : undefined;
  if (!to || !/^https?:$/.test(to.protocol))
    throw new PullError(`${from.host} redirects to an address that is not a URL.`);
  if (from.protocol === "https:" && to.protocol === "http:") {
    throw new PullError(`${from.host} redirects to ${to.host} without encryption; that is not followed.`);
  }
  return to;
}

function linkedTo({ headers }: Response): HubAnswer["linked"] {
  const etag = headers.get("x-linked-etag");
  const bytes = headers.get("x-linked-size");
  return {
    ...(etag !== null && { etag: etag.replaceAll(/^W\/|"/g, "") }),
    ...(bytes !== null && /^\d{1,15}$/.test(bytes) && { bytes: Number(bytes) }),
  };
}

function refusal(response: Response, subject: string, url: URL, hub: Hub): Error {
  const { status } = response;
  const why = response.headers.get("x-error-code");
  const page = `${hub.endpoint}/${subject}`;
  const atHub = url.origin === new URL(hub.endpoint).origin;
  if (PASSING.has(status)) {
    const reason = status === 429 ? "asks to come back later" : "has a problem";
    return new PassingError(`${url.host} ${reason} (${status})`, retryAfterMs(response.headers, Date.now()));
  }
  if (why === "GatedRepo") {
    const missing =
      hub.token === undefined ? ", then set HF_TOKEN to a token of your account" : " with the account of HF_TOKEN";
    return new PullError(`${subject} is gated (${status}): accept its terms at ${page}${missing}.`);
  }
  if (status === 401 && atHub) {
    return hub.token === undefined
      ? new PullError(`${subject} does not exist or is private (401): check the spelling, or set HF_TOKEN.`)
      : new PullError(`HF_TOKEN gives no access to ${subject} (401): it is wrong, expired or lacks permission.`);
  }
  if (status === 401 || status === 403) {
    return new PullError(
      `${url.host} does not let you read ${subject} (${status})${atHub ? `; look at ${page}` : ""}.`,
    );
  }
  if (status === 404 || status === 410) return new PullError(`${url.host} has no ${subject} (${status}).`);
  return new PullError(`${url.host} answers ${status} for ${subject}.`);
}
