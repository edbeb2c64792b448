// Text as speech: which voice says it.

import { SvcError } from "../domain/errors.ts";
import type { SpeechEvent, SpeechWork, Voice } from "../domain/speech.ts";
import { noUsage } from "../domain/usage.ts";
import type { SpeechPort } from "../engine/speech/port.ts";
import type { Backend, ModelRouter } from "./model-router.ts";
import type { RequestReport, RequestService } from "./request.ts";

export interface SpeechDeps {
  readonly router: ModelRouter;
  readonly requests: RequestService;
}

export interface SpeechRun {
  readonly model?: string;
  readonly work: Omit<SpeechWork, "voice">;
  /** Id or name; absent: the usual one. */
  readonly voice?: string;
  readonly locale?: string;
  /** Correlation id of the request. */
  readonly id: string;
  readonly client?: string;
  /** Milliseconds since 1970 after which nobody wants the result. */
  readonly deadline?: number;
}

/** The public convention's voices by how they sound; each stands for the voice here that comes nearest. */
const NAMES: Readonly<Record<string, Voice["gender"]>> = {
  alloy: "female",
  ash: "male",
  ballad: "male",
  cedar: "male",
  coral: "female",
  echo: "male",
  fable: "male",
  marin: "female",
  nova: "female",
  onyx: "male",
  sage: "female",
  shimmer: "female",
  verse: "male",
};
const USUAL = "alloy";

export class SpeechService {
  constructor(private readonly deps: SpeechDeps) {}

  /** All voices, each with the names that stand for it. Throws SvcError `engine_unavailable` when there are none. */
  voices(): (Voice & { readonly aliases: readonly string[] })[] {
    const { voices } = this.deps.router.find(undefined, "speech").engine.status();
    const standIns = Object.keys(NAMES).map((name) => [name, standIn(voices, name)?.id] as const);
    return voices.map((voice) => ({
      ...voice,
      aliases: standIns.flatMap(([name, id]) => (id === voice.id ? [name] : [])),
    }));
  }

  /**
   * Says a text. Throws SvcError (`not_found` about a voice, `invalid_value` about a language or format,
   * `engine_unavailable`, `server_busy`, `deadline_exceeded`, `request_cancelled` and what the engine throws), or the signal's
   * reason after an abort.
   */
  speak(
    { model, work, voice = USUAL, locale, id, client, deadline }: SpeechRun,
    signal: AbortSignal,
    report: RequestReport,
  ): AsyncGenerator<Exclude<SpeechEvent, { readonly type: "started" }>, void, void> {
    const backend = this.deps.router.find(model, "speech");
    const chosen = chooseVoice(backend, voice, locale);
    const job = { work: { ...work, voice: chosen.id }, ...(client !== undefined && { client }) };
    const observe = (event: SpeechEvent) => {
      if (event.type !== "result") return;
      report.reason = "stop";
      report.usage = noUsage(event.result.phonemes);
    };
    const begin = async (live: { readonly signal: AbortSignal }) => backend.engine.run(job, live.signal);
    return this.deps.requests.run({ id, backend, deadline }, signal, report, { begin, observe });
  }
}

function chooseVoice({ engine }: Backend<SpeechPort>, name: string, locale: string | undefined): Voice {
  const { voices } = engine.status();
  const spoken = locale === undefined ? voices : voices.filter((voice) => speaks(voice, locale));
  if (spoken.length === 0) {
    const known = [...new Set(voices.map((voice) => voice.locale))].join(", ");
    const message = `'locale' must be a language that a voice speaks: ${known}.`;
    throw new SvcError("invalid_value", message, { param: "locale" });
  }
  const found = spoken.find(({ id }) => id === name) ?? standIn(spoken, name);
  if (found) return found;
  const message = "'voice' names no voice of this server; GET /v1/audio/voices lists them.";
  throw new SvcError("not_found", message, { param: "voice" });
}

/** Whether a voice speaks a language, whatever the country. */
const speaks = (voice: Voice, locale: string): boolean => languageOf(voice.locale) === languageOf(locale);
const languageOf = (tag: string) => tag.toLowerCase().split(/[-_]/, 1)[0];

/** The voice for one of the public convention's names; undefined for another name. */
function standIn(voices: readonly Voice[], name: string): Voice | undefined {
  if (!Object.hasOwn(NAMES, name)) return undefined;
  const alike = voices.filter(({ gender }) => gender === NAMES[name]);
  const choice = alike.length > 0 ? alike : voices;
  return choice.find(({ id }) => id.endsWith(name)) ?? choice[0];
}
