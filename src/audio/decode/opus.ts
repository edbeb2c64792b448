// Decodes Opus packets with libopus as WebAssembly.

// A namespace import: with a named one, the bundler drops a part of the package that another part uses.
import * as opus from "opus-decoder";
import { DamagedSound } from "./container.ts";
import { SAMPLE_RATE } from "./sound-tools.ts";

/** Bytes per channel that the decoder accepts: 120 ms at 256 kbit/s. */
const LONGEST_PACKET = 3840;
/** Maximum number of damaged packets; beyond it, the track is taken to be no Opus. */
const MOST_DAMAGED = 1000;
const MOST_CHANNELS = 8;

interface OpusPackets {
  /** Returns samples of one channel, without the parts to trim. */
  decode(packet: Uint8Array, trimStart: number, trimEnd: number): Float32Array;
  close(): void;
}

/**
 * Creates a decoder. `head`: the identification header of the track, if there is one. `note` receives the number of
 * damaged packets at the end. Throws DamagedSound when the header is invalid.
 */
export async function openOpus(head: Uint8Array, note: (text: string) => void = () => {}): Promise<OpusPackets> {
  const layout = layoutOf(head);
  const decoder = new opus.OpusDecoder({ sampleRate: SAMPLE_RATE, ...layout });
  await decoder.ready;
  let damaged = 0;
  return {
    decode(packet, trimStart, trimEnd) {
      const fits = packet.length <= LONGEST_PACKET * layout.channels;
      const { channelData, samplesDecoded, errors } = quietly(() =>
        decoder.decodeFrame(fits ? packet : new Uint8Array(0)),
      );
      if (!fits || errors.length > 0) damaged++;
      if (damaged > MOST_DAMAGED) throw new DamagedSound("damaged Opus packets");
      const from = Math.round(trimStart * SAMPLE_RATE);
      const to = samplesDecoded - Math.round(trimEnd * SAMPLE_RATE);
      return mixed(channelData, Math.min(from, samplesDecoded), Math.max(to, 0));
    },
    close() {
      if (damaged > 0) note(`${damaged} Opus packets are damaged`);
      decoder.free();
    },
  };
}

/** Silences the package, which also prints a line about each packet that it cannot decode. */
function quietly<T>(decode: () => T): T {
  const print = console.error;
  console.error = () => {};
  try {
    return decode();
  } finally {
    console.error = print;
  }
}

interface Layout {
  readonly channels: number;
  readonly streamCount: number;
  readonly coupledStreamCount: number;
  readonly channelMappingTable: number[];
}

/** libopus itself mixes the two channels of the usual layout. */
const MONO: Layout = { channels: 1, streamCount: 1, coupledStreamCount: 0, channelMappingTable: [0] };

function layoutOf(head: Uint8Array): Layout {
  const [channels = 0, family = 0, streams = 0, coupled = 0] = [head[9], head[18], head[19], head[20]];
  if (head.length < 19 || family === 0) return MONO;
  const table = [...head.subarray(21, 21 + channels)];
  const inputs = streams + coupled;
  const isWhole = channels >= 1 && channels <= MOST_CHANNELS && table.length === channels;
  const isPossible = streams >= 1 && coupled <= streams && inputs <= MOST_CHANNELS;
  if (!isWhole || !isPossible || table.some((input) => input >= inputs && input !== 255)) {
    throw new DamagedSound("an Opus header that makes no sense");
  }
  return { channels, streamCount: streams, coupledStreamCount: coupled, channelMappingTable: table };
}

function mixed(channels: readonly Float32Array[], from: number, to: number): Float32Array {
  const [first] = channels;
  if (!first || to <= from) return new Float32Array(0);
  if (channels.length === 1) return first.subarray(from, to);
  const sum = first.slice(from, to);
  for (const channel of channels.slice(1)) {
    for (let index = 0; index < sum.length; index++) sum[index] = (sum[index] ?? 0) + (channel[from + index] ?? 0);
  }
  return sum.map((value) => value / channels.length);
}
