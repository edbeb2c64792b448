// Recognises the utterances of one live session: piece by piece in order, each as an ordinary request.

import { typedError, type SvcError } from "../../domain/errors.ts";
import type { LiveSettings } from "../../domain/live.ts";
import type { RequestOrigin } from "../../domain/request-origin.ts";
import type { RawSound } from "../../domain/transcription.ts";
import type { RequestReport } from "../request.ts";
import type { TranscriptionService } from "../transcriptions.ts";
import type { Utterance } from "./utterance.ts";

interface Piece {
  readonly utterance: Utterance;
  readonly sound: RawSound;
  readonly settings: LiveSettings;
}

interface UtteranceQueueDeps {
  readonly transcriptions: Pick<TranscriptionService, "transcribeSpeech">;
  readonly origin: RequestOrigin;
  /** Aborted when the session has ended. */
  readonly signal: AbortSignal;
  /** Called with an unexpected failure. */
  readonly onUnexpected: (error: unknown) => void;
}

export class UtteranceQueue {
  /** The piece being recognised, and the controller that ends its recognition. */
  private current: { readonly utterance: Utterance; readonly abort: AbortController } | undefined;
  /** Resolves when no piece is left to recognise. */
  idle = Promise.resolve();
  /** Bytes of all pieces that wait or are being recognised. */
  waitingBytes = 0;
  /** Tokens of all text so far. */
  tokens = 0;

  constructor(private readonly deps: UtteranceQueueDeps) {}

  add(piece: Piece): void {
    piece.utterance.pieceAdded();
    this.waitingBytes += piece.sound.bytes.length;
    this.idle = this.idle.then(() => this.recognise(piece));
  }

  /** Drops an utterance and ends its recognition. */
  drop(utterance: Utterance): void {
    utterance.drop();
    if (this.current?.utterance === utterance) this.current.abort.abort();
  }

  private async recognise(piece: Piece): Promise<void> {
    const { utterance, sound } = piece;
    const isWanted = utterance.isWanted && !this.deps.signal.aborted;
    const abort = new AbortController();
    this.current = { utterance, abort };
    const failure = isWanted ? await this.transcribe(piece, abort.signal) : undefined;
    this.current = undefined;
    this.waitingBytes -= sound.bytes.length;
    utterance.pieceEnded(failure);
  }

  private async transcribe({ utterance, sound, settings }: Piece, dropped: AbortSignal): Promise<SvcError | undefined> {
    const { transcriptions, origin, signal, onUnexpected } = this.deps;
    const { model, prompt, language = utterance.language } = settings;
    const work = {
      translate: false,
      temperature: 0,
      words: false,
      ...(language !== undefined && { language }),
      ...(prompt !== undefined && { prompt }),
    };
    const report: RequestReport = {};
    // An utterance is cancelled by its own id, and the session by the request's id.
    const run = { ...origin, id: utterance.id, partOf: "placed" as const, model, work };
    try {
      for await (const event of transcriptions.transcribeSpeech(
        sound,
        run,
        AbortSignal.any([signal, dropped]),
        report,
      )) {
        if (event.type === "segment") utterance.heard(event.segment.text);
        if (event.type === "result") utterance.language ??= event.result.language;
      }
    } catch (error) {
      if (signal.aborted || dropped.aborted) return undefined;
      const known = typedError(error, onUnexpected);
      // The detector mistook another sound for speech.
      return known.code === "no_speech" ? undefined : known;
    } finally {
      this.tokens += report.usage?.completionTokens ?? 0;
    }
    return undefined;
  }
}
