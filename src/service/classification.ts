// Labels what a picture shows, using the chat model if it supports vision.

import { SvcError } from "../domain/errors.ts";
import { PLAIN, type Generation, type TextEvent } from "../domain/generate.ts";
import type { PictureLabel } from "../domain/recognition.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import type { GenerationService } from "./generation.ts";
import type { ModelRouter } from "./model-router.ts";

interface ClassificationDeps {
  readonly router: ModelRouter;
  readonly generation: GenerationService;
}

export interface ClassificationRun extends RequestOrigin {
  /** Maximum number of labels. */
  readonly most: number;
}

/** The picture to label. */
interface ShownPicture {
  /** A PNG file that a model accepts unchanged. */
  readonly bytes: Uint8Array;
  /** The request's field that held the picture, for messages. */
  readonly field: string;
}

const LONGEST_LABEL = 60;
/** Token budget for one label as JSON. */
const TOKENS_A_LABEL = 30;
const MORE_TOKENS = 40;

export class ClassificationService {
  constructor(private readonly deps: ClassificationDeps) {}

  /** Whether the chat model is known to support vision. */
  get isThere(): boolean {
    return this.deps.router.usual("chat")?.engine.status().model?.vision === true;
  }

  /**
   * Returns labels of a picture, the most certain first; `confidence` is the probability that the model gave to the
   * tokens of the label. Throws SvcError (`mode_unavailable` when no model supports vision, `unprocessable_media` when
   * the model returns no labels, `request_cancelled`, `deadline_exceeded` and what a generation throws), or the
   * signal's reason after an abort.
   */
  async labels(
    picture: ShownPicture,
    { most, ...origin }: ClassificationRun,
    signal: AbortSignal,
  ): Promise<PictureLabel[]> {
    const { generation } = this.deps;
    const answer = new WrittenLabels();
    // The picture comes from a request that has been admitted already.
    const part = { ...origin, partOf: "ended" } as const;
    const options = { isOwnQuestion: true };
    try {
      for await (const event of generation.generate([question(picture, most)], part, signal, {}, options)) {
        if (event.type === "text") answer.add(event);
      }
    } catch (error) {
      throw error instanceof SvcError && BLIND.has(error.code) ? unavailable() : error;
    }
    const labels = answer.labels().slice(0, most);
    if (labels.length > 0) return labels;
    const { field } = picture;
    throw new SvcError("unprocessable_media", `The model returned no labels for '${field}'.`, { param: field });
  }
}

/** Error codes of a model without vision, and of a server without a model. */
const BLIND: ReadonlySet<string> = new Set([
  "unsupported_media_input",
  "unsupported_parameter",
  "upstream_unavailable",
]);

const unavailable = () => {
  const message = "No model of this server can label images: serve a chat model with image input (--mmproj).";
  return new SvcError("mode_unavailable", message, { param: "mode" });
};

function question({ bytes, field }: ShownPicture, most: number): Generation {
  const url = `data:;base64,${bytes.toBase64()}`;
  const ask = `What does the picture show? Name up to ${most} things, one or two words each in English, the most certain first, as JSON: {"labels": ["dog", "grass"]}`;
  return {
    ...PLAIN,
    messages: [
      {
        role: "user",
        content: [
          { type: "media", source: { kind: "image", url, detail: "auto" }, param: field },
          { type: "text", text: ask },
        ],
      },
    ],
    constraint: { schema: schemaFor(most), strict: false, inexpressible: false },
    thinking: false,
    sampling: { temperature: 0 },
    topLogprobs: 0,
    maxTokens: most * TOKENS_A_LABEL + MORE_TOKENS,
    stop: [],
    choices: 1,
  };
}

const schemaFor = (most: number) => ({
  type: "object",
  properties: {
    labels: {
      type: "array",
      minItems: 1,
      maxItems: most,
      items: { type: "string", minLength: 1, maxLength: LONGEST_LABEL },
    },
  },
  required: ["labels"],
  additionalProperties: false,
});

/** The text that the model generated, and the probabilities of its tokens. */
class WrittenLabels {
  private text = "";
  /** Tokens with their end positions in bytes. */
  private readonly tokens: { readonly end: number; readonly logprob: number }[] = [];
  private bytes = 0;

  add({ text, logprobs = [] }: TextEvent): void {
    this.text += text;
    for (const { bytes, logprob } of logprobs) this.tokens.push({ end: (this.bytes += bytes.length), logprob });
  }

  /** Returns the labels from the valid part of the text, each once. */
  labels(): PictureLabel[] {
    const found = new Map<string, number>();
    let from = 0;
    for (const label of listIn(this.text)) {
      const written = JSON.stringify(label);
      const at = this.text.indexOf(written, from);
      const name = label.trim().toLowerCase().slice(0, LONGEST_LABEL);
      // The model escaped the label in another way, so its tokens cannot be found.
      if (at < 0 || name === "") continue;
      from = at + written.length;
      const confidence = this.probability(at + 1, from - 1);
      if (confidence !== undefined) found.set(name, Math.max(confidence, found.get(name) ?? 0));
    }
    return [...found]
      .map(([label, confidence]) => ({ label, confidence }))
      .toSorted((a, b) => b.confidence - a.confidence);
  }

  /** Returns the probability of the tokens that overlap a part of the text; undefined when not reported. */
  private probability(from: number, to: number): number | undefined {
    const bytes = (until: number) => Buffer.byteLength(this.text.slice(0, until));
    const [start, end] = [bytes(from), bytes(to)];
    const own = this.tokens.filter((token, index) => token.end > start && (this.tokens[index - 1]?.end ?? 0) < end);
    if (own.length === 0) return undefined;
    const sum = own.reduce((total, { logprob }) => total + logprob, 0);
    return Math.min(1, Math.exp(sum));
  }
}

/** Returns the labels in a text, also when an unconstrained model wrote other text around the JSON. */
function listIn(text: string): readonly string[] {
  try {
    const { labels } = JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)) as {
      readonly labels?: unknown;
    };
    return Array.isArray(labels) ? labels.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}
