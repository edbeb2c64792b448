// Converts ncnn weights to safetensors.

import { expect, test } from "bun:test";
import { rrdbSafetensors } from "../../../src/store/models/ncnn.ts";

/** One block of layers with one channel in and out; the first layer has 16-bit weights. */
const LAYERS = 1 + 15 + 5;
const param = [
  "7767517",
  "2 2",
  "Input            data    0 1 data",
  ...Array.from({ length: LAYERS }, (_, at) => `Convolution      conv${at}   1 1 a b 0=1 1=1 4=0 5=1 6=1 9=2`),
  "Interp           up      1 1 b c 0=1 1=2.0 2=2.0",
].join("\n");

function bin(layers = LAYERS): Uint8Array {
  const parts = Array.from({ length: layers }, (_, at) => {
    const part = new DataView(new ArrayBuffer(12));
    if (at === 0) {
      part.setUint32(0, 0x01306b47, true);
      // 1.5 in two bytes, then two bytes of padding.
      part.setUint16(4, 0x3e00, true);
    } else part.setFloat32(4, at, true);
    part.setFloat32(8, -at, true);
    return new Uint8Array(part.buffer);
  });
  return Buffer.concat(parts);
}

const convert = (text: string, weights: Uint8Array) => rrdbSafetensors(Buffer.from(text), weights);

test("layers get the names of an RRDB network and keep their values", () => {
  const file = Buffer.from(convert(param, bin()));
  const length = Number(file.readBigUInt64LE());
  expect(length % 8).toBe(0);
  const header = JSON.parse(file.toString("utf8", 8, 8 + length));
  expect(Object.keys(header)).toHaveLength(2 * LAYERS);
  const { dtype, shape, data_offsets } = header["conv_first.weight"];
  expect([dtype, shape, data_offsets]).toEqual(["F16", [1, 1, 1, 1], [0, 2]]);
  const number = (name: string) => file.readFloatLE(8 + length + header[name].data_offsets[0]);
  expect(file.readUInt16LE(8 + length)).toBe(0x3e00);
  expect(number("conv_first.bias")).toBe(-0);
  expect([number("body.0.rdb1.conv1.weight"), number("body.0.rdb1.conv1.bias")]).toEqual([1, -1]);
  expect([number("body.0.rdb3.conv5.weight"), number("conv_body.weight"), number("conv_last.weight")]).toEqual([
    15, 16, 20,
  ]);
});

test("other networks, and weights that are too short, too long or of an unknown kind, are errors", () => {
  const without = param.split("\n").toSpliced(3, 1).join("\n");
  expect(() => convert(without, bin(LAYERS - 1))).toThrow("no 20 layers");
  expect(() => convert(param, bin(LAYERS + 1))).toThrow("252 bytes");
  expect(() => convert(param, bin(LAYERS - 1))).toThrow();
  expect(() => convert(param, bin().fill(7, 12, 16))).toThrow("unknown kind");
});
