// The event form of one connection: svc answers events in the form that the client last used.

import { fieldError } from "../../domain/errors.ts";
import { newSessionId } from "../../domain/ids.ts";
import type { LiveCommand, LiveEvent } from "../../domain/live.ts";
import { decodeEvent, isFlat, type ClientEvent } from "./decode.ts";
import { encodeEvent, type Form } from "./encode.ts";

/** What a connecting client sends: its query, and headers that may request the first form of OpenAI's API. */
interface Greeting {
  readonly query: URLSearchParams;
  readonly headers: Headers;
}

export class RealtimeWire {
  /** The transcription model that the client named. */
  readonly model: string | undefined;
  private readonly sessionId = newSessionId();
  private form: Form;

  /** Throws SvcError `invalid_value` or `unsupported_parameter` about the query. */
  constructor({ query, headers }: Greeting) {
    const intent = query.get("intent");
    if (intent !== null && intent !== "transcription") {
      throw fieldError("invalid_value", "intent", "must be transcription");
    }
    if (query.has("call_id")) {
      throw fieldError("unsupported_parameter", "call_id", "is not supported: there are no calls here to listen to");
    }
    this.model = query.get("model") || undefined;
    const isFirst = asksForFirstForm(headers);
    this.form = { isFlat: isFirst, session: isFirst && intent !== null ? "transcription_session" : "session" };
  }

  /** Decodes a client event. Throws SvcError naming the invalid field. */
  read(event: ClientEvent): LiveCommand {
    const command = decodeEvent(event);
    if (event.type === "transcription_session.update") this.form = { isFlat: true, session: "transcription_session" };
    else if (event.type === "session.update") this.form = { isFlat: isFlat(event.body), session: "session" };
    return command;
  }

  /** Returns the events, each a JSON text, that report an update to the client. */
  write(event: LiveEvent): string[] {
    return encodeEvent(event, this.form, this.sessionId);
  }
}

/** Returns whether a header, or from a browser a subprotocol, requests the first form. */
const asksForFirstForm = (headers: Headers): boolean =>
  /\brealtime=v1\b/.test(headers.get("openai-beta") ?? "") ||
  /\bopenai-beta\.realtime-v1\b/.test(headers.get("sec-websocket-protocol") ?? "");
