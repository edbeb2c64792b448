// Encodes AAC-LC in ADTS frames with FFmpeg's encoder as WebAssembly.

import { SPEECH_RATE } from "../../domain/speech.ts";
import { Blocks, join, type Encoder } from "./encoder.ts";

/** The functions of the WebAssembly module; an encoder is the address of its state. */
interface AacModule {
  readonly HEAPU8: Uint8Array;
  _init_encoder(channels: number, sampleRate: number, bitrate: number): number;
  _get_encoder_frame_size(encoder: number): number;
  _get_encode_input_ptr(encoder: number, bytes: number): number;
  _send_frame(encoder: number, position: bigint): number;
  _flush_encoder_start(encoder: number): void;
  /** Returns the bytes of the next packet; 0 when there is none; a negative number is an error. */
  _receive_packet(encoder: number): number;
  _get_encoded_data(encoder: number): number;
}

/** Bits per second. */
const BITRATE = 64_000;
const HEAD_BYTES = 7;
const OBJECT_TYPE_LC = 2;
/** Code of SPEECH_RATE. */
const RATE_24_KHZ = 6;

export async function makeAacEncoder(): Promise<Encoder> {
  // The CommonJS module of the package's own Web Worker. It is required, since an import would find its function in
  // different places in a compiled program and from source.
  const {
    default: create,
  }: {
    default: () => Promise<AacModule>;
  } = require("../../../node_modules/@mediabunny/aac-encoder/dist/modules/build/aac.js");
  return new AacEncoder(await create());
}

class AacEncoder implements Encoder {
  private readonly encoder: number;
  private readonly frames: Blocks;
  private position = 0;

  constructor(private readonly module: AacModule) {
    this.encoder = module._init_encoder(1, SPEECH_RATE, BITRATE);
    if (this.encoder === 0) throw new Error("the AAC encoder did not start");
    this.frames = new Blocks(module._get_encoder_frame_size(this.encoder));
  }

  push(samples: Float32Array): Uint8Array {
    return join(this.encode(this.frames.with(samples)));
  }

  finish(): Uint8Array {
    const packets = this.frames.begun.length > 0 ? this.encode(this.frames.withSilence()) : [];
    this.module._flush_encoder_start(this.encoder);
    return join([...packets, ...this.received()]);
  }

  private encode(frames: readonly Float32Array[]): Uint8Array[] {
    const { module, encoder } = this;
    return frames.flatMap((frame) => {
      const input = module._get_encode_input_ptr(encoder, frame.byteLength);
      module.HEAPU8.set(new Uint8Array(frame.buffer, frame.byteOffset, frame.byteLength), input);
      const status = module._send_frame(encoder, BigInt(this.position));
      if (status < 0) throw new Error(`the AAC encoder failed with ${status}`);
      this.position += frame.length;
      return this.received();
    });
  }

  private received(): Uint8Array[] {
    const { module, encoder } = this;
    const packets: Uint8Array[] = [];
    for (;;) {
      const length = module._receive_packet(encoder);
      if (length < 0) throw new Error(`the AAC encoder failed with ${length}`);
      if (length === 0) return packets;
      const from = module._get_encoded_data(encoder);
      packets.push(adtsHead(length), module.HEAPU8.slice(from, from + length));
    }
  }
}

/** Returns the header of a packet: how to decode it, and its length. */
function adtsHead(packetBytes: number): Uint8Array {
  const bytes = packetBytes + HEAD_BYTES;
  const channels = 1;
  return Uint8Array.of(
    0xff,
    0xf1,
    ((OBJECT_TYPE_LC - 1) << 6) | (RATE_24_KHZ << 2),
    (channels << 6) | (bytes >> 11),
    bytes >> 3,
    // The buffer fullness is not stated: all ones.
    (bytes << 5) | 0x1f,
    0xfc,
  );
}
