// LoRA adapters with random values for svc-mini: weak enough that it still makes sense, strong enough that it answers
// differently.

import { join } from "node:path";
import { writeGguf, type GgufValue } from "../../vendor/gguf-writer.ts";
import { matrix, seeded, tensor } from "./tensors.ts";
import { writeModel, type ModelContent } from "./write-model.ts";

/** The parts of svc-mini that are adapted: columns and rows of its tensors. */
const LAYERS = 6;
const ADAPTED = { attn_q: [256, 256], attn_v: [256, 128], ffn_down: [512, 256] } as const;
const RANK = 4;
const ALPHA = 8;
/** Scale of the values in B; those in A keep activations near 1. */
const STRENGTH = 0.12;

/** Part of the file names, so that a change of the content does not reuse old files. */
const VERSION = 1;

export interface AdapterChanges {
  /** Width of another model. */
  readonly width?: number;
  readonly metadata?: Readonly<Record<string, GgufValue>>;
}

/** Returns the path of an adapter in `folder`, created when missing. The same seed gives the same file. */
export function makeAdapter(folder: string, seed: number, name = `lora-${seed}.v${VERSION}`): string {
  return writeModel(join(folder, `${name}.gguf`), () => adapter(seed));
}

/** Writes an adapter to `path`; with `changes`, one that does not fit svc-mini. */
export function writeAdapter(path: string, seed: number, changes?: AdapterChanges): void {
  writeGguf(path, ...adapter(seed, changes));
}

function adapter(seed: number, { width, metadata }: AdapterChanges = {}): ModelContent {
  const random = seeded(seed);
  return [
    {
      "general.type": { type: "string", value: "adapter" },
      "general.architecture": { type: "string", value: "qwen3" },
      "adapter.type": { type: "string", value: "lora" },
      "adapter.lora.alpha": { type: "f32", value: ALPHA },
      "adapter.lora.task_name": { type: "string", value: `task ${seed}` },
      ...metadata,
    },
    Array.from({ length: LAYERS }, (_, layer) =>
      Object.entries(ADAPTED).flatMap(([name, [columns, rows]]) => [
        matrix(`blk.${layer}.${name}.weight.lora_a`, width ?? columns, RANK, random),
        tensor(`blk.${layer}.${name}.weight.lora_b`, [RANK, rows], STRENGTH, random),
      ]),
    ).flat(),
  ];
}
