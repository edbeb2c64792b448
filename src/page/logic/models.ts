// The server's models, by what people do with them.

import type { ModelList } from "../../contract/model.ts";
import { bytes, compact, contextLength } from "./format.ts";

export interface Model {
  readonly id: string;
  /** What the model is for: conversations, or images. */
  readonly use: "chat" | "image";
  readonly capabilities: ReadonlySet<string>;
  readonly loaded: boolean;
  /** Whether its server reports token counts and prompt progress while it generates; some upstreams do not. */
  readonly reports: boolean;
  /** Tokens of prompt and answer together. */
  readonly context?: number;
  /** Architecture, size and device in one line. */
  readonly about: string;
}

/** What the server can do besides chatting. */
export interface Abilities {
  readonly speech: boolean;
}

/** Owners of models whose servers report progress: svc, its system models, and llama.cpp. */
const REPORTING: ReadonlySet<string> = new Set(["svc", "system", "llamacpp"]);

/** Returns the models to choose from in the order of the list, chat models first. */
export function modelsOf({ data, models }: ModelList): Model[] {
  const all = data.flatMap((entry, index): Model[] => {
    const details = models[index];
    const capabilities = new Set(details?.capabilities);
    // svc-system does not have `chat`: it is for programs that select it by name.
    const use = capabilities.has("chat") ? "chat" : capabilities.has("images") ? "image" : undefined;
    if (!use) return [];
    const { context_length: context } = entry as { readonly context_length?: number };
    const about = [
      details?.description,
      details?.parameters && `${compact(details.parameters)} parameters`,
      details?.bytes && bytes(details.bytes),
      context && `${contextLength(context)} context`,
    ];
    return [
      {
        id: entry.id,
        use,
        capabilities,
        loaded: entry.loaded,
        reports: REPORTING.has(entry.owned_by),
        ...(context !== undefined && { context }),
        about: about.filter(Boolean).join(" · "),
      },
    ];
  });
  return all.toSorted((a, b) => Number(a.use === "image") - Number(b.use === "image"));
}

export function abilitiesOf({ models }: ModelList): Abilities {
  return { speech: models.some(({ capabilities }) => capabilities.includes("speech")) };
}

/** Capabilities by which people choose a model, with the names that the page shows. */
const SHOWN: readonly (readonly [string, string])[] = [
  ["vision", "Images"],
  ["audio", "Sound"],
  ["tools", "Tools"],
  ["reasoning", "Thinking"],
  ["images", "Makes images"],
];

export const capabilityNames = ({ capabilities }: Model): string[] =>
  SHOWN.flatMap(([capability, name]) => (capabilities.has(capability) ? name : []));
