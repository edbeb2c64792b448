// Decodes one file to samples, in parts of any size: with the native library, from a container, or with ffmpeg.

import { ContainerReader, DamagedSound, UnsupportedSound } from "./container.ts";
import { READINGS, type FormatReading, type SoundFormat } from "./format.ts";
import { openOpus } from "./opus.ts";
import type { SoundBytes, SoundFile } from "./sound-bytes.ts";
import { SAMPLE_RATE, type SoundTools } from "./sound-tools.ts";

/** Frames that are decoded at once; other work may run in between. */
const BLOCK_FRAMES = 1 << 16;
/** Seconds that packets must be late to be played after silence; less may come from rounded times. */
const LEAST_GAP = 0.1;
/** Packets without sound after which other work may run. */
const EMPTY_PACKETS = 1 << 14;
/** Bytes of a sample in ffmpeg's output. */
const BYTES = Float32Array.BYTES_PER_ELEMENT;

/** Progress of reading a file. */
export interface ReadingState {
  /** From 0 to 1, by what the file states or by its bytes; undefined when unknown. */
  share: number | undefined;
}

/** Decodes WAV, MP3 or FLAC. Throws the native library's errors. */
export async function* nativeSamples(
  path: string,
  { audio }: SoundTools,
  state: ReadingState,
): AsyncGenerator<Float32Array> {
  const sound = audio.open(path);
  const block = new Float32Array(BLOCK_FRAMES);
  try {
    for (let total = 0; ;) {
      const length = sound.read(block);
      if (length === 0) return;
      total += length;
      state.share = sound.declaredFrames > 0 ? Math.min(1, total / sound.declaredFrames) : undefined;
      yield block.subarray(0, length);
    }
  } finally {
    sound.close();
  }
}

/** Decodes a container; a part without samples lets other work run. Throws DamagedSound or UnsupportedSound. */
export async function* containerSamples(
  file: SoundBytes,
  container: number,
  tools: SoundTools,
  state: ReadingState,
): AsyncGenerator<Float32Array> {
  let some = false;
  let reason: unknown;
  // A truncated file may refer to tables at its end that are missing, but be playable without them.
  for (const isSeekable of [true, false]) {
    try {
      for await (const samples of packetSamples(new ContainerReader(file, container, isSeekable), tools)) {
        some ||= samples.length > 0;
        state.share = Math.min(1, file.position / file.size);
        yield samples;
      }
      return;
    } catch (error) {
      if (some) throw error;
      reason ??= error;
    }
  }
  throw reason;
}

async function* packetSamples(reader: ContainerReader, { audio, note }: SoundTools): AsyncGenerator<Float32Array> {
  const head = reader.opusHead;
  const opus = head && (await openOpus(head, note));
  const rates = new Rates(audio);
  try {
    let empty = 0;
    /** Where the next packet begins if none is missing, by the file's clock. */
    let end: number | undefined;
    for (let packet = reader.next(); packet !== undefined; packet = reader.next()) {
      if (packet.kind === "nothing") {
        if (++empty % EMPTY_PACKETS === 0) yield new Float32Array();
        continue;
      }
      const samples =
        packet.kind === "samples"
          ? rates.convert(packet.samples, packet.rate)
          : opus?.decode(packet.bytes, packet.trimStart, packet.trimEnd);
      if (!samples || samples.length === 0) continue;
      end ??= packet.at;
      if (packet.at - end > LEAST_GAP) {
        yield* silence(packet.at - end);
        end = packet.at;
      }
      yield samples;
      end += samples.length / SAMPLE_RATE;
    }
  } finally {
    opus?.close();
    rates.close();
  }
}

/** Yields silence in blocks, since a file may claim any length; the reader ends where the limit is reached. */
function* silence(seconds: number): Generator<Float32Array> {
  for (let left = Math.round(seconds * SAMPLE_RATE); left > 0; left -= BLOCK_FRAMES) {
    yield new Float32Array(Math.min(left, BLOCK_FRAMES));
  }
}

/**
 * Decodes a file with the host's ffmpeg. `coding`: the coding's name, for messages. Throws UnsupportedSound when ffmpeg
 * is missing, DamagedSound when it fails.
 */
export async function* ffmpegSamples(
  source: SoundFile,
  format: SoundFormat,
  { ffmpeg, run }: SoundTools,
  { maxSeconds, signal }: { readonly maxSeconds: number; readonly signal?: AbortSignal },
  coding?: string,
): AsyncGenerator<Float32Array> {
  const name = coding === undefined ? "" : ` (${coding})`;
  if (ffmpeg === undefined)
    throw new UnsupportedSound(`a coding${name} that is read with ffmpeg only, which is not installed`);
  // One second more, so that a sound that is too long is noticed.
  const limits = ["-t", String(Math.ceil(maxSeconds) + 1)];
  // Without the demuxer's name, ffmpeg would accept a playlist and open the files in it.
  const { demuxer = format }: FormatReading = READINGS[format];
  const [place, held] = typeof source === "string" ? [`file:${source}`] : ["pipe:0", source];
  const input = ["-protocol_whitelist", "file,pipe", "-f", demuxer, "-i", place];
  const output = ["-vn", "-sn", "-dn", ...limits, "-ac", "1", "-ar", String(SAMPLE_RATE), "-f", "f32le", "pipe:1"];
  const command = [ffmpeg, "-nostdin", "-hide_banner", "-v", "error", ...input, ...output];
  let rest = Buffer.alloc(0);
  try {
    for await (const bytes of run(command, signal, held && { input: held })) {
      const all = Buffer.concat([rest, bytes]);
      const whole = all.length - (all.length % BYTES);
      rest = all.subarray(whole);
      const samples = new Float32Array(whole / BYTES);
      new Uint8Array(samples.buffer).set(all.subarray(0, whole));
      yield samples;
    }
    signal?.throwIfAborted();
  } catch {
    signal?.throwIfAborted();
    throw new DamagedSound("a file that ffmpeg cannot read");
  }
}

/** Converts from the sample rate of the packets, which may change where recordings were joined. */
class Rates {
  private current:
    { readonly rate: number; readonly converter: ReturnType<SoundTools["audio"]["openConverter"]> } | undefined;

  constructor(private readonly audio: SoundTools["audio"]) {}

  convert(samples: Float32Array, rate: number): Float32Array {
    if (rate === SAMPLE_RATE) return samples;
    if (this.current?.rate !== rate) {
      this.close();
      this.current = { rate, converter: this.audio.openConverter(rate) };
    }
    return this.current.converter.convert(samples);
  }

  close(): void {
    this.current?.converter.close();
    this.current = undefined;
  }
}
