// Recorded speech as text.

/** How speech in a recording is told from everything else; what is absent is as usual. */
export interface SpeechDetection {
  /** Probability from which on a moment counts as speech; 0: all of it is. */
  readonly threshold?: number;
  /** What around speech goes with it. */
  readonly padSeconds?: number;
  /** Shorter silences do not end a phrase. */
  readonly minSilenceSeconds?: number;
}

/** How speech is to be recognised. */
export interface TranscriptionTask {
  /** Of the speech, by its two- or three-letter code; absent: it is detected. */
  readonly language?: string;
  /** The request's field that names it, for messages; absent: `language`. */
  readonly languageField?: string;
  /** Into English, whatever the language of the speech. */
  readonly translate: boolean;
  /** Text that came before, or names and spellings that may occur. */
  readonly prompt?: string;
  /** Where decoding begins; where it fails, it is tried again with more. */
  readonly temperature: number;
  /** Times of words are wanted. */
  readonly words: boolean;
  readonly detection?: SpeechDetection;
  /** The text is read as it comes: some of it is to be there soon. */
  readonly early?: true;
}

/** What is to be recognised, and how. */
export interface TranscriptionWork extends TranscriptionTask {
  /** Of the file with the recording; it is there until the work has ended. */
  readonly path: string;
  /** The request's field that the recording came in, for messages. */
  readonly field: string;
}

/** The same of speech that is at hand: nothing else is in it. */
export interface UtteranceWork extends TranscriptionTask {
  readonly sound: RawSound;
}

/** How samples are written that have no file around them: 16 bits, little-endian, or one byte each by G.711. One channel. */
export interface RawFormat {
  readonly encoding: "pcm16" | "ulaw" | "alaw";
  /** Samples a second. */
  readonly rate: number;
}

export interface RawSound {
  readonly format: RawFormat;
  readonly bytes: Uint8Array;
}

/** What is listened to at once: a frame. Every format has a whole number of samples in it. */
export const FRAME_SECONDS = 0.032;

/** Sound that came next in a stream, in which speech is looked for. */
export interface ListeningWork {
  /** Whole frames. */
  readonly sound: RawSound;
  /** How many of the first frames were listened to before: those behind them follow on from their sound. */
  readonly known: number;
  /** As the frames before left it; absent: there were none. */
  readonly memory?: Float32Array;
}

/** What was heard. */
export interface Heard {
  /** How likely it is that somebody speaks, for each new frame: 0 to 1. */
  readonly speech: Float32Array;
  /** For what comes next. */
  readonly memory: Float32Array;
}

/** A word with its times. */
export interface SpokenWord {
  readonly text: string;
  /** Seconds from the beginning of the recording. */
  readonly start: number;
  readonly end: number;
}

/** A piece of speech, mostly a sentence or a clause. What the model did not tell is absent. */
export interface SpeechSegment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Of the model's vocabulary. */
  readonly tokens: readonly number[];
  /** Mean logarithm of the tokens' probabilities. */
  readonly averageLogprob: number;
  /** Bytes of the text over those of it compressed: text that repeats itself has a high one. */
  readonly compressionRatio: number;
  /** The model's probability that there is no speech in this piece. */
  readonly noSpeechProbability?: number;
  /** At which its text was decoded. */
  readonly temperature?: number;
  readonly words?: readonly SpokenWord[];
}

/** What is known when a recording has been read to its end. */
export interface TranscriptionResult {
  readonly language: string;
  /** How long the recording plays. */
  readonly seconds: number;
  /** Of speech that the model was given, without the silence around it. */
  readonly speechSeconds: number;
}

/** What loading a model tells about it. */
export interface TranscriptionModel {
  /** As `base`. */
  readonly size: string;
  readonly bytes: number;
  readonly device: string;
}

/** Where a recording is that did not come in a form: a file of the operator's, or base64. */
export type RecordingSource =
  { readonly kind: "path"; readonly path: string } | { readonly kind: "base64"; readonly data: string };

/** How far a recording has been recognised. */
export interface TranscriptionProgress {
  readonly seconds: number;
  /** How long the recording plays, as far as its file tells; absent: nobody knows. */
  readonly of?: number;
}

/**
 * `accepted`: it is audio that can be read, and waits for its turn · `started`: its first computation begins · `segment`:
 * the next piece of speech · `progress`: from time to time · `result`: the last event.
 */
export type TranscriptionEvent =
  | { readonly type: "accepted" }
  | { readonly type: "started" }
  | { readonly type: "progress"; readonly progress: TranscriptionProgress }
  | { readonly type: "segment"; readonly segment: SpeechSegment }
  | { readonly type: "result"; readonly result: TranscriptionResult };

/** The text of a whole recording. It begins with no space, whatever the model puts in front of its segments. */
export const wholeText = (segments: readonly Pick<SpeechSegment, "text">[]): string =>
  segments
    .map(({ text }) => text)
    .join("")
    .trim();
