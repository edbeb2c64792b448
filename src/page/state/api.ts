// Sends the page's requests to the server, with the API key if there is one.

import { signal } from "@preact/signals";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { Kept } from "./kept.ts";

const KEY = "svc.api-key";
export const NEEDS_KEY = "This server needs an API key.";

/** An error response of the server, with its message. */
class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

export const connectionLost = () =>
  new ApiError("The connection to the server was lost. Check that svc runs, then regenerate the answer.", 0);

export class Api {
  /** The server requires an API key: `missing` when the page has none, `refused` when the server rejected it. */
  readonly needsKey = signal<"" | "missing" | "refused">("");

  /** Whether the user closed the dialog for a key: requests that they did not cause wait until they give one. */
  readonly isKeyDeclined = signal(false);

  constructor(private readonly kept = new Kept("sessionStorage")) {}

  /** Stores the key until the tab is closed; returns false when it can be no key. */
  useKey(key: string): boolean {
    // With other characters, which word processors put in place of some, the browser sends no request at all.
    const isPossible = /^[\x21-\x7e]+$/.test(key);
    this.needsKey.value = isPossible ? "" : "refused";
    if (!isPossible) return false;
    this.isKeyDeclined.value = false;
    this.kept.set(KEY, key);
    return true;
  }

  /** Ends the question for a key; what the user does next may ask again. */
  declineKey(): void {
    this.needsKey.value = "";
    this.isKeyDeclined.value = true;
  }

  /** Sends a request: POST with a body, else GET. Throws ApiError. */
  async fetch(path: string, body?: object, init: RequestInit = {}): Promise<Response> {
    const key = this.kept.get(KEY);
    const isForm = body instanceof FormData;
    const response = await fetch(path, {
      ...init,
      ...(body && { method: "POST", body: isForm ? body : JSON.stringify(body) }),
      headers: {
        ...(body && !isForm && { "Content-Type": "application/json" }),
        ...(key !== null && { Authorization: `Bearer ${key}` }),
        ...(init.headers as Record<string, string> | undefined),
      },
    }).catch((error: unknown) => {
      if (error instanceof DOMException) throw error;
      throw new ApiError("The server cannot be reached. Check that svc runs.", 0);
    });
    if (response.ok) return response;
    if (response.status === 401) this.needsKey.value = key === null ? "missing" : "refused";
    if (response.status === 401 && key === null) throw new ApiError(NEEDS_KEY, 401);
    throw await errorOf(response);
  }

  async json<T>(path: string, body?: object, init?: RequestInit): Promise<T> {
    return (await (await this.fetch(path, body, init)).json()) as T;
  }

  /** Returns whether the server still answers. */
  async isReachable(): Promise<boolean> {
    return this.fetch("/health").then(
      () => true,
      (error: unknown) => error instanceof ApiError && error.status > 0,
    );
  }

  /** Yields the JSON of each event of a stream, up to its terminator. Throws ApiError, or the signal's reason. */
  async *events<T>(path: string, body: object, init: RequestInit): AsyncGenerator<T, void, void> {
    const response = await this.fetch(path, body, init);
    if (!response.body) return;
    const events = response.body
      .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
      .pipeThrough(new EventSourceParserStream());
    const reader = events.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          if (init.signal?.aborted) throw error;
          throw connectionLost();
        });
        if (done || value.data === "[DONE]") return;
        yield JSON.parse(value.data) as T;
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  }
}

async function errorOf(response: Response): Promise<ApiError> {
  const { error } = (await response.json().catch(() => ({}))) as { error?: { message?: string } };
  const wait = response.headers.get("Retry-After");
  const later = wait === null ? "" : ` Try again in ${wait} s.`;
  const message = error?.message ?? `The server answered with status ${response.status}.`;
  return new ApiError(message + later, response.status);
}

/** Returns the message of an error, for the user; some errors of browsers have only a name. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error);
