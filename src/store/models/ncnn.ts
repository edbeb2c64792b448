// Converts ncnn weights of an RRDB net (ESRGAN) to safetensors, under the names that stable-diffusion.cpp reads.

import { dataView } from "../../domain/data-view.ts";

interface Convolution {
  readonly outputs: number;
  readonly kernel: number;
  readonly weights: number;
}

/** Tag before weights of two bytes each; before weights of four bytes, the tag is zero. */
const HALVES = 0x01306b47;
/** Names of the layers of a block. */
const DENSE = [1, 2, 3].flatMap((block) => [1, 2, 3, 4, 5].map((conv) => `rdb${block}.conv${conv}`));
const BEFORE = ["conv_first"];
const BEHIND = ["conv_body", "conv_up1", "conv_up2", "conv_hr", "conv_last"];

/**
 * Converts a net. `param` has its layers, one per line; `bin` has their weights in the same order. Throws when they
 * belong to another kind of net.
 */
export function rrdbSafetensors(param: Uint8Array, bin: Uint8Array): Uint8Array {
  const layers = convolutions(new TextDecoder().decode(param));
  const blocks = (layers.length - BEFORE.length - BEHIND.length) / DENSE.length;
  if (!Number.isInteger(blocks) || blocks < 1) throw new Error(`an RRDB net has no ${layers.length} layers`);
  const body = Array.from({ length: blocks }, (_, block) => DENSE.map((name) => `body.${block}.${name}`)).flat();
  const names = [...BEFORE, ...body, ...BEHIND];
  const header: Record<string, { dtype: string; shape: readonly number[]; data_offsets: readonly [number, number] }> =
    {};
  const pieces: Uint8Array[] = [];
  let [at, end] = [0, 0];
  const put = (name: string, dtype: string, shape: readonly number[], bytes: number) => {
    pieces.push(bin.subarray(at, at + bytes));
    header[name] = { dtype, shape, data_offsets: [end, end + bytes] };
    end += bytes;
  };
  const view = dataView(bin);
  for (const [index, { outputs, kernel, weights }] of layers.entries()) {
    const kind = view.getUint32(at, true);
    if (kind !== HALVES && kind !== 0) throw new Error("weights of an unknown kind");
    const [dtype, width] = kind === HALVES ? ["F16", 2] : ["F32", 4];
    at += 4;
    put(
      `${names[index]}.weight`,
      dtype as string,
      [outputs, weights / outputs / kernel ** 2, kernel, kernel],
      weights * (width as number),
    );
    at += Math.ceil((weights * (width as number)) / 4) * 4;
    put(`${names[index]}.bias`, "F32", [outputs], outputs * 4);
    at += outputs * 4;
  }
  if (at !== bin.length) throw new Error(`the layers have ${at} bytes of weights, not ${bin.length}`);
  const json = Buffer.from(JSON.stringify(header));
  const padded = Buffer.concat([json, Buffer.alloc(-json.length & 7, " ")]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  return Buffer.concat([length, padded, ...pieces]);
}

/** Parses lines of the form `Convolution NAME INPUTS OUTPUTS input… output… 0=outputs 1=kernel 6=weights …`. */
function convolutions(param: string): Convolution[] {
  const lines = param.split("\n").filter((line) => line.startsWith("Convolution "));
  return lines.map((line) => {
    const settings = new Map(
      line.split(/\s+/).flatMap((word) => [/^(\d+)=(\d+)$/.exec(word)?.slice(1) ?? []]) as [string, string][],
    );
    const number = (key: string) => Number(settings.get(key));
    return { outputs: number("0"), kernel: number("1"), weights: number("6") };
  });
}
