// Sends HTTP requests to one server: its address and key, timeouts for each phase, the header that prevents loops.

import { connect } from "node:net";
import { abortable } from "../domain/abortable.ts";
import { TurnLimit } from "../domain/turn-limit.ts";
import { within } from "../domain/within.ts";
import { AnswerMessages } from "./answer-messages.ts";
import { parseLong } from "./long-json.ts";
import { unreached } from "./unreached.ts";
import { beginningOf, failureOf, lost, silent, unreachable, UpstreamFailure } from "./upstream-failure.ts";

/** Tells another svc to answer by itself or not at all. */
const HOP_HEADER = { name: "Via", value: "1.1 svc" } as const;

export interface ServerAddress {
  /** Base URL, without `/v1` and without a trailing slash. */
  readonly url: string;
  /** The proxy that `fetch` uses. */
  readonly proxy?: string;
  /** Bearer token; never logged. */
  readonly key?: string;
}

export interface Timeouts {
  /** Milliseconds to establish a connection. */
  readonly connectMs: number;
  /** Milliseconds of silence before and within an answer. */
  readonly silenceMs: number;
}

export interface JsonDocument {
  readonly body: unknown;
  readonly headers: Headers;
}

/** Milliseconds after a response during which requests skip the connection check. */
const FRESH_MS = 5000;
/** Milliseconds to wait for a document: a server in front of many others may take long to list their models. */
const DOCUMENT_TIMEOUT_MS = 10_000;
/** Maximum characters of a document: enough for thousands of models. */
const LONGEST_DOCUMENT = 16 * 2 ** 20;
/** Bytes of all answers to parse per turn of the event loop: a hundred answers at once would block other requests. */
const BYTES_IN_A_TURN = 64 * 1024;

export class ServerClient {
  /** When the last part of an answer to a request arrived, in monotonic milliseconds. */
  heardAt = -Infinity;
  private readonly turns = new TurnLimit(BYTES_IN_A_TURN);

  constructor(
    readonly address: ServerAddress,
    /** Timeouts of requests from now on. */
    public timeouts: Timeouts,
    private readonly now: () => number,
  ) {}

  /** Fetches a JSON document. Throws UpstreamFailure when none arrives in time. */
  async get(path: string): Promise<JsonDocument> {
    const signal = AbortSignal.timeout(DOCUMENT_TIMEOUT_MS);
    try {
      await this.checkConnection(signal);
      const response = await this.fetch(path, { method: "GET", signal });
      if (!response.ok) throw await failureOf(response, Date.now());
      return { body: await documentOf(response), headers: response.headers };
    } catch (error) {
      throw error instanceof UpstreamFailure ? error : unreachable(unreached(error, this.address));
    }
  }

  /** Sends JSON and returns the document that answers it. Throws UpstreamFailure, or a timeout's error. */
  async ask(path: string, body: object): Promise<unknown> {
    return documentOf(await this.post(path, JSON.stringify(body), {}, AbortSignal.timeout(DOCUMENT_TIMEOUT_MS)));
  }

  /**
   * Sends JSON; resolves to the response once its headers have arrived with status 200. Throws UpstreamFailure, or the
   * signal's reason.
   */
  async post(
    path: string,
    json: string | Blob,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Response> {
    await this.checkConnection(signal);
    const call = new AbortController();
    try {
      const sent = this.fetch(path, {
        method: "POST",
        body: json,
        headers: { "Content-Type": "application/json", ...headers },
        signal: AbortSignal.any([signal, call.signal]),
        // svc ends silent requests itself; fetch would end them after five minutes, whatever the settings.
        timeout: false,
      });
      const response = await this.waiting(sent, signal);
      if (response.status === 200) return response;
      throw await this.waiting(failureOf(response, Date.now()), signal);
    } catch (error) {
      // Ends the request at the server as well.
      call.abort();
      signal.throwIfAborted();
      if (error instanceof UpstreamFailure) throw error;
      throw wasSent(error) ? lost("broke the connection") : unreachable(unreached(error, this.address));
    }
  }

  /** Returns the messages of an answer. `longest`: maximum characters of one. The caller must call `end`. */
  messages(response: Response, signal: AbortSignal, longest?: number): AnswerMessages {
    const onHeard = () => void (this.heardAt = this.now());
    const { silenceMs } = this.timeouts;
    const { now, turns } = this;
    return new AnswerMessages({ response, longest, silenceMs, signal, now, turns, onHeard });
  }

  /** Waits until an answer begins. Throws UpstreamFailure when nothing arrives, or the signal's reason. */
  private async waiting<T>(next: Promise<T>, signal: AbortSignal): Promise<T> {
    const { silenceMs } = this.timeouts;
    const value = await within(abortable(next, signal), silenceMs, () => silent(silenceMs / 1000));
    this.heardAt = this.now();
    return value;
  }

  private fetch(path: string, init: BunFetchRequestInit): Promise<Response> {
    const { url, key } = this.address;
    const headers = new Headers(init.headers);
    headers.set(HOP_HEADER.name, HOP_HEADER.value);
    if (key !== undefined) headers.set("Authorization", `Bearer ${key}`);
    // Redirects would forward the key.
    return fetch(url + path, { ...init, headers, redirect: "manual" });
  }

  /** Connects first, because `fetch` has no timeout for connecting, and an answer may take minutes. */
  private async checkConnection(signal: AbortSignal): Promise<void> {
    if (this.now() - this.heardAt >= FRESH_MS) await this.connect(signal);
  }

  /** Resolves when the server accepts a connection. Throws UpstreamFailure, or the signal's reason. */
  async connect(signal?: AbortSignal): Promise<void> {
    const { hostname, port, protocol } = new URL(this.address.proxy ?? this.address.url);
    const { connectMs } = this.timeouts;
    const late = () => unreachable(`did not accept a connection within ${connectMs / 1000} s`);
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || (protocol === "https:" ? 443 : 80)),
    });
    const connected = new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", (error) => reject(unreachable(unreached(error, this.address))));
      // After a timeout, this ends the wait for `signal`.
      socket.once("close", () => resolve());
    });
    try {
      await within(signal ? abortable(connected, signal) : connected, connectMs, late);
    } finally {
      socket.destroy();
    }
  }
}

/** Returns the JSON of an answer that is not a stream. Throws UpstreamFailure about invalid JSON, or too much of it. */
const documentOf = async (response: Response): Promise<unknown> =>
  parseLong(await beginningOf(response, LONGEST_DOCUMENT));

/** Error codes of `fetch` after it had a connection; all other errors prevent one. */
const AFTER_CONNECTING: ReadonlySet<unknown> = new Set(["ECONNRESET", "Malformed_HTTP_Response"]);
const wasSent = (error: unknown): boolean =>
  error instanceof Error && "code" in error && AFTER_CONNECTING.has(error.code);
