// Detects speech in live streams, at once, even while recordings are being recognised.

import { LISTENING_MEMORY, LISTENING_WINDOW, type Whisper } from "../../../../ffi/whisper/api.ts";
import { rawSamples } from "../../../audio/decode/raw-sound.ts";
import type { SoundTools } from "../../../audio/decode/sound-tools.ts";
import type { Heard, ListeningWork } from "../../../domain/transcription.ts";
import type { JobKey } from "../../process/protocol.ts";
import type { FromTranscriber } from "../protocol.ts";
import { sendRefusal } from "../../process/refusal.ts";

/** Probability that counts as speech here, whatever threshold the client has chosen. */
const LIKELY = 0.5;

export class Listener {
  /** `detectsSpeech`: whether there is a detector; else all sound counts as speech. `onSpeech`: called on speech. */
  constructor(
    private readonly whisper: Pick<Whisper, "listen">,
    private readonly audio: SoundTools["audio"],
    private readonly detectsSpeech: boolean,
    private readonly send: (message: FromTranscriber) => void,
    private readonly onSpeech: () => void,
  ) {}

  submit(key: JobKey, work: ListeningWork): void {
    try {
      const heard = this.listen(work);
      if (heard.speech.some((probability) => probability > LIKELY)) this.onSpeech();
      this.send({ type: "events", outputs: [], finished: [{ key, event: { type: "heard", heard } }] });
    } catch (error) {
      sendRefusal(this.send, key, error, "The speech detector failed; the log has the details.");
    }
  }

  private listen({ sound, known, memory = new Float32Array(LISTENING_MEMORY) }: ListeningWork): Heard {
    const all = rawSamples(sound, this.audio);
    const samples = wholeWindows(all.subarray(known * LISTENING_WINDOW));
    return { speech: this.detectsSpeech ? this.whisper.listen(samples, memory) : loudness(samples), memory };
  }
}

/** Returns values from `LIKELY` to 1 instead of probabilities: long speech is cut where it is quietest. */
function loudness(samples: Float32Array): Float32Array {
  return Float32Array.from({ length: samples.length / LISTENING_WINDOW }, (_, at) => {
    const window = samples.subarray(at * LISTENING_WINDOW, (at + 1) * LISTENING_WINDOW);
    const energy = window.reduce((sum, sample) => sum + sample * sample, 0) / LISTENING_WINDOW;
    return LIKELY + Math.sqrt(energy) * (1 - LIKELY);
  });
}

/** Rounds to whole windows: a converter may keep back the very last sample. */
function wholeWindows(samples: Float32Array): Float32Array {
  const windows = Math.round(samples.length / LISTENING_WINDOW);
  const whole = new Float32Array(windows * LISTENING_WINDOW);
  whole.set(samples.subarray(0, whole.length));
  return whole;
}
