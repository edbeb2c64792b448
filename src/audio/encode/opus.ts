// Encodes Opus in Ogg (RFC 7845): libopus as WebAssembly encodes frames of 20 ms; `ogg.ts` writes the pages.

import createModule from "opusscript/build/opusscript_native_wasm.js";
import wasm from "opusscript/build/opusscript_native_wasm.wasm" with { type: "file" };
import { SPEECH_RATE } from "../../domain/speech.ts";
import { withHead, Blocks, join, type Encoder } from "./encoder.ts";
import { OggWriter, type Packet } from "./ogg.ts";
import { toInt16 } from "./pcm.ts";

/** The functions of the WebAssembly module. */
export interface OpusModule {
  readonly HEAPU8: Uint8Array;
  readonly HEAPU16: Uint16Array;
  _malloc(bytes: number): number;
  readonly OpusScriptHandler: new (sampleRate: number, channels: number, application: number) => OpusHandler;
}

interface OpusHandler {
  /** Reads bytes stored as 16-bit numbers. Returns the bytes of the packet at `to`, or a negative error. */
  _encode(from: number, bytes: number, to: number, samples: number): number;
  _encoder_ctl(request: number, value: number): number;
}

const APPLICATION_AUDIO = 2049;
const SET_BITRATE = 4002;
const SET_SIGNAL = 4024;
const SIGNAL_VOICE = 3001;
/** Bits per second; more makes no audible difference for speech. */
const BITRATE = 48_000;
const FRAMES_PER_SECOND = 50;
const BLOCK = SPEECH_RATE / FRAMES_PER_SECOND;
const MOST_PACKET_BYTES = 1276;
/** Positions per second, whatever the sound's sample rate is. */
const POSITION_RATE = 48_000;
/** Encoder delay in positions: that much silence is output first, and players skip it. */
const PRE_SKIP = 312;

export async function makeOpusEncoder(): Promise<Encoder> {
  const ogg = new OggWriter();
  const head = join([opusHead(), opusTags()].map((bytes) => ogg.write([{ bytes, position: 0 }])));
  return withHead(head, new OpusEncoder(ogg, createModule({ wasmBinary: await Bun.file(wasm).bytes() })));
}

class OpusEncoder implements Encoder {
  private readonly handler: OpusHandler;
  private readonly blocks = new Blocks(BLOCK);
  private readonly input: number;
  private readonly output: number;
  private samples = 0;
  private frames = 0;

  constructor(
    private readonly ogg: OggWriter,
    private readonly module: OpusModule,
  ) {
    this.handler = new module.OpusScriptHandler(SPEECH_RATE, 1, APPLICATION_AUDIO);
    this.handler._encoder_ctl(SET_BITRATE, BITRATE);
    this.handler._encoder_ctl(SET_SIGNAL, SIGNAL_VOICE);
    this.input = module._malloc(2 * BLOCK * Int16Array.BYTES_PER_ELEMENT);
    this.output = module._malloc(MOST_PACKET_BYTES);
  }

  push(samples: Float32Array): Uint8Array {
    this.samples += samples.length;
    return this.ogg.write(this.encode(this.blocks.with(samples)));
  }

  finish(): Uint8Array {
    const positions = PRE_SKIP + (this.samples * POSITION_RATE) / SPEECH_RATE;
    const packets: Packet[] = [];
    // Silence makes the encoder output what it still buffers.
    while (this.position < positions) packets.push(...this.encode(this.blocks.withSilence()));
    const last = packets.pop();
    // The last page states where the sound really ends.
    return this.ogg.write(last ? [...packets, { ...last, position: positions }] : [], true);
  }

  private get position(): number {
    return (this.frames * POSITION_RATE) / FRAMES_PER_SECOND;
  }

  private encode(blocks: readonly Float32Array[]): Packet[] {
    return blocks.map((block) => {
      this.frames++;
      return { bytes: this.packet(toInt16(block)), position: this.position };
    });
  }

  private packet(frame: Int16Array): Uint8Array {
    const { module } = this;
    module.HEAPU16.set(new Uint8Array(frame.buffer), this.input / 2);
    const length = this.handler._encode(this.input, frame.byteLength, this.output, frame.length);
    if (length < 0) throw new Error(`libopus failed with ${length}`);
    return module.HEAPU8.slice(this.output, this.output + length);
  }
}

function opusHead(): Uint8Array {
  const head = Buffer.alloc(19);
  head.write("OpusHead", 0, "latin1");
  head.writeUInt8(1, 8);
  head.writeUInt8(1, 9);
  head.writeUInt16LE(PRE_SKIP, 10);
  head.writeUInt32LE(SPEECH_RATE, 12);
  return head;
}

/** Returns the tags: the encoder's name, and no comments. */
function opusTags(): Uint8Array {
  const vendor = "libopus 1.4";
  const tags = Buffer.alloc(16 + vendor.length);
  tags.write("OpusTags", 0, "latin1");
  tags.writeUInt32LE(vendor.length, 8);
  tags.write(vendor, 12, "latin1");
  return tags;
}
