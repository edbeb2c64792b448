// Image models with all their parts, for `svc pull`: from repositories that need no account, in sizes that a machine
// without a large GPU can run. Each has its maker's licence.

import type { HubSet, ModelPart, PinnedFile, PinnedRepo } from "./known-sets.ts";

/** Describes a repository of which one file is used. */
const one = (
  repo: string,
  revision: string,
  path: string,
  bytes: number,
  sha256: string,
  part?: ModelPart,
): PinnedRepo => ({
  repo,
  revision,
  files: [{ path, bytes, sha256, ...(part && { part }) }],
});

const SAFETENSORS = "diffusion_pytorch_model.safetensors";
/** Tiny decoders, MIT. */
const taesd = (repo: string, revision: string, bytes: number, sha256: string) =>
  one(`madebyollin/${repo}`, revision, SAFETENSORS, bytes, sha256, "taesd");
const TAEF1 = taesd(
  "taef1",
  "b1b2d00e9e440cfbf3dedb34266864da86016ceb",
  9_848_636,
  "47a6c2bff850da04b267cab70fe3553fef57255eb9a8e76852baa0a87850e54d",
);

/** The decoder of FLUX.1, which Z-Image also uses. */
const FLUX_VAE: PinnedFile = {
  path: "ae.safetensors",
  bytes: 335_304_388,
  sha256: "afc8e28272cd15db3919bacdb6918ce9c1ed22e96cb12c4d5ed0fba823529e38",
  part: "vae",
};

const PARTS: Readonly<Record<string, HubSet["repos"]>> = {
  // Apache-2.0.
  "flux2-klein": [
    one(
      "leejet/FLUX.2-klein-4B-GGUF",
      "3b1f5a9dc3abb32238b053aeb3d823c30afdacbd",
      "flux-2-klein-4b-Q4_0.gguf",
      2_460_378_560,
      "d1023499ef3f2f82ff7c50e6778495195c1b6cc34835741778868428111f9ff4",
    ),
    one(
      "unsloth/Qwen3-4B-GGUF",
      "22c9fc8a8c7700b76a1789366280a6a5a1ad1120",
      "Qwen3-4B-Q4_K_M.gguf",
      2_497_281_312,
      "f6f851777709861056efcdad3af01da38b31223a3ba26e61a4f8bf3a2195813a",
      "text-encoder",
    ),
    one(
      "Comfy-Org/flux2-dev",
      "03d6521e6f6a47396b3f951cbea50f7e6c2f482e",
      "split_files/vae/flux2-vae.safetensors",
      336_213_556,
      "d64f3a68e1cc4f9f4e29b6e0da38a0204fe9a49f2d4053f0ec1fa1ca02f9c4b5",
      "vae",
    ),
  ],
  // Apache-2.0.
  "z-image-turbo": [
    one(
      "leejet/Z-Image-Turbo-GGUF",
      "c61c0e422dc8b541b7548cf33a4ef8302b0f8085",
      "z_image_turbo-Q4_K.gguf",
      3_864_250_304,
      "14b375ab4f226bc5378f68f37e899ef3c2242b8541e61e2bc1aff40976086fbd",
    ),
    one(
      "unsloth/Qwen3-4B-Instruct-2507-GGUF",
      "a06e946bb6b655725eafa393f4a9745d460374c9",
      "Qwen3-4B-Instruct-2507-Q4_K_M.gguf",
      2_497_281_120,
      "3605803b982cb64aead44f6c1b2ae36e3acdb41d8e46c8a94c6533bc4c67e597",
      "text-encoder",
    ),
    {
      repo: "Comfy-Org/z_image_turbo",
      revision: "6fc90a3b1b653e935a0d175e260736de25b84df5",
      files: [{ ...FLUX_VAE, path: "split_files/vae/ae.safetensors" }],
    },
    TAEF1,
  ],
  // Apache-2.0.
  "flux1-schnell": [
    {
      repo: "second-state/FLUX.1-schnell-GGUF",
      revision: "8c45a2ba25e2d02bd34230989fb54983f39e44ec",
      files: [
        {
          path: "flux1-schnell-Q4_0.gguf",
          bytes: 6_688_845_536,
          sha256: "b338a7ab5c81600a54be46c4cf950edb3761a52ae163e419beafd250976fb566",
        },
        {
          path: "clip_l.safetensors",
          bytes: 246_144_152,
          sha256: "660c6f5b1abae9dc498ac2d21e1347d2abdb0cf6c0c0c8576cd796491d9a6cdd",
          part: "text-encoder",
        },
        {
          path: "t5xxl-Q8_0.gguf",
          bytes: 5_199_794_784,
          sha256: "fc07757bf7ad40eaf612acc7ed0c0a7ab71189979e0b8b4d14601017baca22de",
          part: "text-encoder",
        },
        FLUX_VAE,
      ],
    },
    TAEF1,
  ],
  // Stability AI's Community License: free up to a revenue limit.
  "sd-turbo": [
    one(
      "stabilityai/sd-turbo",
      "b261bac6fd2cf515557d5d0707481eafa0485ec2",
      "sd_turbo.safetensors",
      5_214_561_328,
      "3f067a1b943cf162f2b8f8588f6cf5824bd5b4c7d1d88d87164b9ca123616549",
    ),
    taesd(
      "taesd",
      "614f76814bbe30edbe2e627ace1c2234c81a2c0e",
      9_793_292,
      "db169d69145ec4ff064e49d99c95fa05d3eb04ee453de35824a6d0f325513549",
    ),
  ],
  // Same licence as sd-turbo.
  "sdxl-turbo": [
    one(
      "stabilityai/sdxl-turbo",
      "71153311d3dbb46851df1931d3ca6e939de83304",
      "sd_xl_turbo_1.0_fp16.safetensors",
      6_938_081_905,
      "e869ac7d6942cb327d68d5ed83a40447aadf20e0c3358d98b2cc9e270db0da26",
    ),
    taesd(
      "taesdxl",
      "b20258aaef75ef61e659c1e0f14f251cf0ad153e",
      9_793_292,
      "ff4824aca94dd6111e0340fa749347fb74101060d9712cb5ef1ca8f1cf17502f",
    ),
  ],
};

/** Image sets by the names used to pull and serve them. */
export const IMAGE_SETS: Readonly<Record<string, HubSet>> = Object.fromEntries(
  Object.entries(PARTS).map(([name, repos]) => [name, { repos, use: `Serve it: svc --image-model ${name}` }]),
);
