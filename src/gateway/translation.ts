// Translates a generation for its replicas, once for each kind of server.

import { SvcError } from "../domain/errors.ts";
import { mediaOf, type GenerateRequest, type MediaPart } from "../domain/generate.ts";
import { encodeOllama } from "./ollama/encode-request.ts";
import { encodeOpenAi, type UpstreamCall } from "./openai/encode-request.ts";
import type { Replica } from "./replica.ts";
import { lacksMedia } from "./server-description.ts";
import { orRefusal } from "./unsupported.ts";

export class Translation {
  private readonly media: readonly MediaPart[];
  private readonly known = new Map<string, UpstreamCall | SvcError>();

  constructor(
    private readonly request: GenerateRequest,
    /** The servers' name for the model. */
    private readonly model: string,
  ) {
    this.media = request.messages.flatMap(mediaOf);
  }

  /** Returns the call to send to the replica. Throws SvcError about a part that the replica cannot take. */
  for(replica: Replica): UpstreamCall {
    const translated = this.translated(replica);
    if (translated instanceof SvcError) throw translated;
    return translated;
  }

  /** Returns the error about a part that the replica cannot take; undefined if there is none. */
  readonly refusalOf = (replica: Replica): SvcError | undefined => {
    const translated = this.translated(replica);
    return translated instanceof SvcError ? translated : undefined;
  };

  private translated(replica: Replica): UpstreamCall | SvcError {
    const model = replica.model(this.model);
    const thinks = model?.capabilities.includes("reasoning") === true;
    const key = `${replica.kind} ${thinks}`;
    const untaken = model && this.media.find(({ source }) => lacksMedia(model, source.kind));
    if (untaken) return takesNone(untaken);
    const known = this.known.get(key) ?? orRefusal(() => this.translate(replica, thinks));
    this.known.set(key, known);
    return known;
  }

  private translate({ kind }: Replica, thinks: boolean): UpstreamCall {
    const { request, model } = this;
    return kind === "ollama" ? encodeOllama(request, model, thinks) : encodeOpenAi(request, model, kind);
  }
}

function takesNone({ source: { kind }, param }: MediaPart): SvcError {
  const message = `'${param}': the server of this model takes no ${kind} input.`;
  return new SvcError("unsupported_media_input", message, { param });
}
