// One connection's way of speaking: events are answered in the form in which its client last spoke.

import { fieldError } from "../../domain/errors.ts";
import { newSessionId } from "../../domain/ids.ts";
import type { LiveCommand, LiveEvent } from "../../domain/live.ts";
import { decodeEvent, isFlat, type ClientEvent } from "./decode.ts";
import { encodeEvent, type Form } from "./encode.ts";

/** What is said when a connection is made: its query, and how its client asks for the convention's first form. */
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

  /** Throws SvcError naming the field at fault. */
  read(event: ClientEvent): LiveCommand {
    const command = decodeEvent(event);
    if (event.type === "transcription_session.update") this.form = { isFlat: true, session: "transcription_session" };
    else if (event.type === "session.update") this.form = { isFlat: isFlat(event.body), session: "session" };
    return command;
  }

  /** The events, each a JSON text, by which the client is told of one. */
  write(event: LiveEvent): string[] {
    return encodeEvent(event, this.form, this.sessionId);
  }
}

/** By a header, or from a browser by a subprotocol. */
const asksForFirstForm = (headers: Headers): boolean =>
  /\brealtime=v1\b/.test(headers.get("openai-beta") ?? "") ||
  /\bopenai-beta\.realtime-v1\b/.test(headers.get("sec-websocket-protocol") ?? "");
