// What a picture shows, by the chat model, where that sees.

import { SvcError } from "../domain/errors.ts";
import type { GenerateRequest } from "../domain/generate.ts";
import type { PictureLabel } from "../domain/recognition.ts";
import type { TemporaryFile } from "../store/temporary-files.ts";
import type { GenerationService } from "./generation.ts";
import type { ModelRouter } from "./model-router.ts";

export interface ClassificationDeps {
  readonly router: ModelRouter;
  readonly generation: GenerationService;
}

export interface ClassificationRun {
  /** Labels, at most. */
  readonly most: number;
  /** Correlation id of the request. */
  readonly id: string;
  readonly client?: string;
  /** Milliseconds since 1970 after which nobody wants the result. */
  readonly deadline?: number;
}

const LONGEST_LABEL = 60;
/** Of a label with its confidence, as JSON. */
const TOKENS_A_LABEL = 40;
const MORE_TOKENS = 40;

export class ClassificationService {
  constructor(private readonly deps: ClassificationDeps) {}

  /** Whether the chat model is known to see. */
  get isThere(): boolean {
    return this.deps.router.usual("chat")?.engine.status().model?.vision === true;
  }

  /**
   * Labels of a picture, the most certain first. Throws SvcError (`mode_unavailable` where no model sees,
   * `unprocessable_media` where it finds no words, `invalid_value` about the picture, `request_cancelled`,
   * `deadline_exceeded` and what a generation throws), or the signal's reason after an abort.
   */
  async labels(picture: TemporaryFile, run: ClassificationRun, signal: AbortSignal): Promise<PictureLabel[]> {
    const { generation } = this.deps;
    let text = "";
    try {
      for await (const event of generation.generate(await question(picture, run), signal)) {
        if (event.type === "text") text += event.text;
        if (event.type === "finish" && event.reason === "cancelled") {
          throw new SvcError("request_cancelled", "The request was cancelled by its id.");
        }
      }
    } catch (error) {
      throw error instanceof SvcError && BLIND.has(error.code) ? unavailable() : error;
    }
    const labels = labelsIn(text).slice(0, run.most);
    if (labels.length > 0) return labels;
    const { field } = picture;
    throw new SvcError("unprocessable_media", `The model found no words for what '${field}' shows.`, { param: field });
  }
}

/** What a model says that takes no pictures, and a server without a model. */
const BLIND: ReadonlySet<string> = new Set([
  "unsupported_media_input",
  "unsupported_parameter",
  "upstream_unavailable",
]);

const unavailable = () => {
  const message = "No model here says what a picture shows: serve a chat model that sees (--mmproj).";
  return new SvcError("mode_unavailable", message, { param: "mode" });
};

async function question({ path, field }: TemporaryFile, run: ClassificationRun): Promise<GenerateRequest> {
  const { most, id, client, deadline } = run;
  const url = `data:;base64,${(await Bun.file(path).bytes()).toBase64()}`;
  const ask = `What does the picture show? Name up to ${most} things, one or two words each in English, the most certain first, each with your confidence from 0 to 1, as JSON: {"labels": [{"label": "dog", "confidence": 0.9}]}`;
  return {
    id,
    messages: [
      {
        role: "user",
        content: [
          { type: "media", source: { kind: "image", url, detail: "auto" }, param: field },
          { type: "text", text: ask },
        ],
      },
    ],
    tools: [],
    toolChoice: "auto",
    parallelToolCalls: false,
    constraint: { schema: schemaFor(most), strict: false, inexpressible: false },
    templateKwargs: {},
    thinking: false,
    sampling: { temperature: 0 },
    maxTokens: most * TOKENS_A_LABEL + MORE_TOKENS,
    stop: [],
    choices: 1,
    ...(client !== undefined && { client }),
    ...(deadline !== undefined && { deadline }),
  };
}

const schemaFor = (most: number) => ({
  type: "object",
  properties: {
    labels: {
      type: "array",
      minItems: 1,
      maxItems: most,
      items: {
        type: "object",
        properties: {
          label: { type: "string", minLength: 1, maxLength: LONGEST_LABEL },
          confidence: { type: "number", minimum: 0, maximum: 1 },
        },
        required: ["label", "confidence"],
        additionalProperties: false,
      },
    },
  },
  required: ["labels"],
  additionalProperties: false,
});

/** Labels of whatever is of the right form, each once. */
function labelsIn(text: string): PictureLabel[] {
  const found = new Map<string, number>();
  for (const one of listIn(text)) {
    const { label, confidence } = one as { readonly label?: unknown; readonly confidence?: unknown };
    if (typeof label !== "string" || label.trim() === "" || typeof confidence !== "number") continue;
    const name = label.trim().toLowerCase().slice(0, LONGEST_LABEL);
    const share = Math.min(1, Math.max(0, confidence));
    found.set(name, Math.max(share, found.get(name) ?? 0));
  }
  return [...found]
    .map(([label, confidence]) => ({ label, confidence }))
    .toSorted((a, b) => b.confidence - a.confidence);
}

/** A model that nothing holds to the form may write around it. */
function listIn(text: string): readonly unknown[] {
  try {
    const { labels } = JSON.parse(/\{[\s\S]*\}/.exec(text)?.[0] ?? "{}") as { readonly labels?: unknown };
    return Array.isArray(labels) ? labels.filter((one) => typeof one === "object" && one !== null) : [];
  } catch {
    return [];
  }
}
