// Speaks text: chooses the voice and runs its engine.

import { abortable } from "../domain/abortable.ts";
import { SvcError } from "../domain/errors.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import type { SpeechEvent, SpeechWork, Voice } from "../domain/speech.ts";
import { noUsage } from "../domain/usage.ts";
import { aliasesOf, chooseVoice, offer, ready, type OfferedVoice } from "./choose-voice.ts";
import type { ModelRouter } from "./model-router.ts";
import type { RequestReport, RequestService } from "./request.ts";

interface SpeechDeps {
  readonly router: ModelRouter;
  readonly requests: RequestService;
}

interface SpeechRun extends RequestOrigin {
  /** A speech model, to use only its voices; with any other name, all voices are considered. */
  readonly model?: string | undefined;
  readonly work: Omit<SpeechWork, "voice">;
  /** Id or name; undefined: the default voice. */
  readonly voice?: string | undefined;
  readonly locale?: string | undefined;
}

/** A program of the host may be there and fail. */
const NO_VOICE = "No voice can speak here: there is no speech model, and the programs of the host list no voices.";

/** The events that clients get. */
type SpokenEvent = Exclude<SpeechEvent, { readonly type: "started" | "progress" }>;

export class SpeechService {
  /** Offers by list of voices, cached because parsing language tags takes time, and programs have many voices. */
  private readonly offers = new WeakMap<readonly Voice[], readonly OfferedVoice[]>();

  constructor(private readonly deps: SpeechDeps) {}

  /** Returns all voices that can speak, with model and aliases. Throws SvcError `engine_unavailable` if none exist. */
  async voices(): Promise<(Voice & { readonly model: string; readonly aliases: readonly string[] })[]> {
    const offered = ready(await this.known());
    const aliases = aliasesOf(offered);
    return offered.map((one) => ({ ...one.voice, model: one.backend.model, aliases: aliases.get(one) ?? [] }));
  }

  /**
   * Speaks a text. Throws SvcError (`not_found` about a voice, `invalid_value` about a language or format,
   * `engine_unavailable`, `server_busy`, `deadline_exceeded`, `request_cancelled` and what the engine throws), or the
   * signal's reason after an abort.
   */
  async *speak(
    { model, work, voice: name, locale, ...origin }: SpeechRun,
    signal: AbortSignal,
    report: RequestReport,
  ): AsyncGenerator<SpokenEvent, void, void> {
    // The list of a program of the host can take seconds.
    const known = await abortable(this.known(model), signal);
    const { backend, voice } = chooseVoice(known, { name, locale, text: work.text });
    const job = { work: { ...work, voice: voice.id }, client: origin.client };
    const spec = { ...origin, backend };
    const begin = (live: AbortSignal) => backend.engine.run(job, live);
    const events = this.deps.requests.compute(spec, signal, report, begin, ({ result }) => noUsage(result.phonemes));
    for await (const event of events) {
      if (event.type === "progress") report.progress = event.progress;
      else yield event;
    }
  }

  /**
   * Returns the voices of one model, or of all in order of precedence, including those that cannot speak here yet.
   * Throws SvcError `engine_unavailable` without any.
   */
  private async known(model?: string): Promise<OfferedVoice[]> {
    const backends = this.deps.router.findAll(model, "speech");
    const lists = await Promise.all(
      backends.map(async (backend) => {
        const voices = await backend.engine.voices();
        const offered = this.offers.get(voices) ?? offer(backend, voices);
        this.offers.set(voices, offered);
        return offered;
      }),
    );
    const known = lists.flat();
    if (known.length === 0) throw new SvcError("engine_unavailable", NO_VOICE);
    return known;
  }
}
