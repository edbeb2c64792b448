// Translates a generation for its replicas, once for each kind of server.

import { SvcError } from "../domain/errors.ts";
import { mediaOf, type GenerateRequest, type MediaPart } from "../domain/generate.ts";
import { encodeOllama } from "./ollama/encode-request.ts";
import { encodeOpenAi, type UpstreamCall } from "./openai/encode-request.ts";
import type { Replica } from "./replica.ts";
import { lacksMedia } from "./server-description.ts";

export class Translation {
  private readonly media: readonly MediaPart[];
  private readonly known = new Map<string, UpstreamCall>();

  constructor(
    private readonly request: GenerateRequest,
    /** The servers' name for the model. */
    private readonly model: string,
  ) {
    this.media = request.messages.flatMap(mediaOf);
  }

  /** Returns the call to send to the replica. Throws SvcError about a part that the replica cannot take. */
  for(replica: Replica): UpstreamCall {
    const model = replica.model(this.model);
    const thinks = model?.capabilities.includes("reasoning") === true;
    const key = `${replica.kind} ${thinks}`;
    const untaken = model && this.media.find(({ source }) => lacksMedia(model, source.kind));
    if (untaken) throw takesNone(untaken);
    const known = this.known.get(key) ?? this.translate(replica, thinks);
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
