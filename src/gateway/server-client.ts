// HTTP to one other server: its address, its key, time-outs for each phase, and the header that breaks circles.

import { connect } from "node:net";
import { TurnLimit } from "../domain/turn-limit.ts";
import { withWholePairs } from "../domain/whole-pairs.ts";
import { AnswerMessages } from "./answer-messages.ts";
import { within } from "./deadline.ts";
import { parseLong } from "./long-json.ts";
import { beginningOf, failureOf, lost, silent, unreachable, UpstreamFailure } from "./upstream-failure.ts";

/** Another svc that gets this answers by itself or not at all. */
const HOP_HEADER = { name: "Via", value: "1.1 svc" } as const;

export interface ServerAddress {
  /** Without `/v1` and without a slash at its end. */
  readonly url: string;
  /** The proxy through which `fetch` asks it. */
  readonly proxy?: string;
  /** Bearer token; never logged. */
  readonly key?: string;
}

export interface Timeouts {
  /** Milliseconds for a connection. */
  readonly connectMs: number;
  /** Milliseconds of silence before and within an answer. */
  readonly silenceMs: number;
}

export interface JsonDocument {
  readonly body: unknown;
  readonly headers: Headers;
}

/** What was heard of so lately that it is asked without a look whether it is there. */
const FRESH_MS = 5000;
/** Characters of a document, thousands of models among them. */
const LONGEST_DOCUMENT = 16 * 2 ** 20;
/** Of all its answers that are taken apart: a hundred of them at once would hold up everybody else. */
const BYTES_IN_A_TURN = 64 * 1024;

export class ServerClient {
  /** When the last part of an answer to a request came; monotonic milliseconds. */
  heardAt = -Infinity;
  private readonly turns = new TurnLimit(BYTES_IN_A_TURN);

  constructor(
    readonly address: ServerAddress,
    /** Of requests from now on. */
    public timeouts: Timeouts,
    private readonly now: () => number,
  ) {}

  /** A JSON document. Throws UpstreamFailure when there is none within `ms`. */
  async get(path: string, ms: number): Promise<JsonDocument> {
    const signal = AbortSignal.timeout(ms);
    try {
      await this.checkConnection(signal);
      const response = await this.fetch(path, { method: "GET", signal });
      if (!response.ok) throw await failureOf(response, Date.now());
      return { body: await documentOf(response), headers: response.headers };
    } catch (error) {
      throw error instanceof UpstreamFailure ? error : unreachable("cannot be reached");
    }
  }

  /**
   * Sends JSON; resolves with the answer once its headers are there and its status is 200. Throws UpstreamFailure, or the
   * signal's reason.
   */
  async post(
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Response> {
    await this.checkConnection(signal);
    const call = new AbortController();
    try {
      const sent = this.fetch(path, {
        method: "POST",
        // Servers answer half a surrogate pair as if they had failed, and would seem to be sick.
        body: withWholePairs(JSON.stringify(body)),
        headers: { "Content-Type": "application/json", ...headers },
        signal: AbortSignal.any([signal, call.signal]),
        // What is silent is given up by us: this one would end after five minutes, whatever was asked for.
        timeout: false,
      });
      const response = await this.waiting(sent, signal);
      if (response.status === 200) return response;
      throw await this.waiting(failureOf(response, Date.now()), signal);
    } catch (error) {
      // What is given up here ends there as well.
      call.abort();
      signal.throwIfAborted();
      if (error instanceof UpstreamFailure) throw error;
      throw wasSent(error) ? lost("broke the connection") : unreachable("cannot be reached");
    }
  }

  /** The messages of an answer. `longest`: characters of one. Their `end` is the caller's. */
  messages(response: Response, signal: AbortSignal, longest?: number): AnswerMessages {
    const onHeard = () => void (this.heardAt = this.now());
    const { silenceMs } = this.timeouts;
    const { now, turns } = this;
    return new AnswerMessages({ response, longest, silenceMs, signal, now, turns, onHeard });
  }

  /** Waits for the beginning of an answer. Throws UpstreamFailure when nothing comes, or the signal's reason. */
  private readonly waiting = <T>(next: Promise<T>, signal: AbortSignal): Promise<T> =>
    within(next, { ms: this.timeouts.silenceMs, signal, late: () => silent(this.timeouts.silenceMs / 1000) }).then(
      (value) => {
        this.heardAt = this.now();
        return value;
      },
    );

  private fetch(path: string, init: BunFetchRequestInit): Promise<Response> {
    const { url, key } = this.address;
    const headers = new Headers(init.headers);
    headers.set(HOP_HEADER.name, HOP_HEADER.value);
    if (key !== undefined) headers.set("Authorization", `Bearer ${key}`);
    // Redirections would take the key along.
    return fetch(url + path, { ...init, headers, redirect: "manual" });
  }

  /** `fetch` knows no time-out of its own for connecting, and an answer may well take minutes. */
  private async checkConnection(signal: AbortSignal): Promise<void> {
    if (this.now() - this.heardAt >= FRESH_MS) await this.connect(signal);
  }

  /** Resolves when it accepts a connection. Throws UpstreamFailure, or the signal's reason. */
  async connect(signal: AbortSignal): Promise<void> {
    const { hostname, port, protocol } = new URL(this.address.proxy ?? this.address.url);
    const late = () => unreachable(`did not accept a connection within ${this.timeouts.connectMs / 1000} s`);
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || (protocol === "https:" ? 443 : 80)),
    });
    const connected = new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", () => reject(unreachable("cannot be reached")));
    });
    try {
      await within(connected, { ms: this.timeouts.connectMs, signal, late });
    } finally {
      socket.destroy();
    }
  }
}

/** The JSON of an answer that is no stream. Throws UpstreamFailure about what is none, or too much. */
export const documentOf = async (response: Response): Promise<unknown> =>
  parseLong(await beginningOf(response, LONGEST_DOCUMENT));

/** What `fetch` says of a connection that it had; all else keeps it from getting one. */
const AFTER_CONNECTING: ReadonlySet<unknown> = new Set(["ECONNRESET", "Malformed_HTTP_Response"]);
const wasSent = (error: unknown): boolean =>
  error instanceof Error && "code" in error && AFTER_CONNECTING.has(error.code);
