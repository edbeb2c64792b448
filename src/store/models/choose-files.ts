// Chooses the files of a repository that form the requested model.

import { fileSize } from "../../domain/file-size.ts";
import { baseName, isModel, isProjector, isWhisper, partOf, quantOf, stemOf } from "./gguf-names.ts";
import { PullError } from "./pull-error.ts";
import type { RemoteFile } from "./remote-file.ts";
import { shown } from "./reference.ts";

/** Best quality for its size first, as in other programs; unlisted quantizations come last, by name. */
const DEFAULT_QUANTS: readonly string[] =
  "Q4_K_M UD-Q4_K_XL Q4_K_S Q4_0 IQ4_XS IQ4_NL MXFP4 MXFP4_MOE Q5_K_M Q5_K_S Q6_K Q8_0 BF16 F16 F32".split(" ");
/** Projectors are small, so the most precise type that every device supports comes first. */
const PROJECTOR_QUANTS = ["F16", "BF16", "Q8_0", "F32"];

interface ChosenModel {
  /** The part after the colon in the model's name: its quantization, or the file's name if that is ambiguous. */
  readonly tag: string;
  readonly quant?: string;
  /** Files in order of their part numbers. */
  readonly files: readonly RemoteFile[];
  readonly projector?: RemoteFile;
}

interface Variant {
  readonly stem: string;
  readonly quant: string | undefined;
  readonly files: readonly RemoteFile[];
}

/**
 * Returns the model that `wanted` names by quantization or file; without `wanted`, the first in the default order.
 * Throws PullError, with a list of the models, when none or several match or a part is missing.
 */
export function chooseFiles(all: readonly RemoteFile[], wanted: string | undefined, repo: string): ChosenModel {
  const variants = variantsOf(all);
  if (variants.length === 0) {
    const missing = "has no GGUF file of a model, nor one in whisper.cpp's format";
    throw new PullError(`${repo} ${missing}; look for a repository with GGUF in its name.`);
  }
  const variant = wanted === undefined ? byDefault(variants, repo) : byName(variants, wanted, repo);
  const { files, quant, stem } = variant;
  const { parts } = partOf(files[0]?.path ?? "");
  if (files.length !== parts || files.some(({ path }, index) => partOf(path).part !== index + 1)) {
    throw new PullError(
      `${repo} has ${files.length} of the ${parts} files of ${shown(baseName(stem))}: it is incomplete there.`,
    );
  }
  const projector = projectorFor(stem, all);
  return {
    tag: tagOf(variant, variants),
    ...(quant !== undefined && { quant }),
    files,
    ...(projector && { projector }),
  };
}

/** Returns the preference of a quantization; smaller is better. */
export function quantRank(quant: string | undefined): number {
  const rank = DEFAULT_QUANTS.indexOf(quant ?? "");
  return rank < 0 ? DEFAULT_QUANTS.length : rank;
}

function variantsOf(all: readonly RemoteFile[]): Variant[] {
  const byStem = Map.groupBy(
    all.filter(({ path }) => isModel(path)),
    ({ path }) => stemOf(path),
  );
  return [...byStem]
    .map(([stem, files]) => ({ stem, quant: quantOf(stem), files: files.toSorted(byPart) }))
    .sort((a, b) => (a.stem < b.stem ? -1 : 1));
}

const byPart = (a: RemoteFile, b: RemoteFile): number => partOf(a.path).part - partOf(b.path).part;

function byDefault(variants: readonly Variant[], repo: string): Variant {
  const forms = variants.filter(isForm);
  const [best] = forms.toSorted((a, b) => quantRank(a.quant) - quantRank(b.quant));
  if (best) return best;
  if (variants.length === 1) return variants[0] as Variant;
  throw new PullError(`${repo} has several models: name one.\n${listing(variants)}`);
}

/** Returns whether a variant is a form of the same model; Whisper files are models of different sizes instead. */
const isForm = ({ files: [file] }: Variant): boolean => !isWhisper(file?.path ?? "");

function byName(variants: readonly Variant[], wanted: string, repo: string): Variant {
  const name = wanted.toUpperCase();
  const readings: ((variant: Variant) => boolean)[] = [
    (variant) => variant.files.some(({ path }) => path.toUpperCase() === name),
    (variant) => variant.files.some(({ path }) => baseName(path).toUpperCase() === name),
    (variant) => variant.quant === name,
    (variant) => tagOf(variant, variants).toUpperCase() === name,
    (variant) => variant.quant === `UD-${name}`,
  ];
  for (const reading of readings) {
    const [found, another] = variants.filter(reading);
    if (found && !another) return found;
    if (found)
      throw new PullError(`${repo} has several models for "${shown(wanted)}": name one.\n${listing(variants)}`);
  }
  throw new PullError(`${repo} has no "${shown(wanted)}". It has these:\n${listing(variants)}`);
}

function listing(variants: readonly Variant[]): string {
  const line = (variant: Variant) => {
    const bytes = variant.files.reduce((sum, file) => sum + (file.bytes ?? 0), 0);
    return `  ${shown(tagOf(variant, variants)).padEnd(12)} ${fileSize(bytes).padStart(11)}  ${shown(variant.files[0]?.path ?? "")}`;
  };
  return variants.map(line).join("\n");
}

function tagOf(variant: Variant, variants: readonly Variant[]): string {
  const { quant, stem } = variant;
  const isQuant = quant !== undefined && isForm(variant);
  const isUnique = isQuant && variants.filter((other) => other.quant === quant).length === 1;
  return isUnique ? quant : stem.replaceAll(/[^A-Za-z0-9._-]/g, "_").replace(/^[^A-Za-z0-9]+/, "") || "model";
}

/** Returns the best projector in the model's folder or a parent of it. */
function projectorFor(stem: string, all: readonly RemoteFile[]): RemoteFile | undefined {
  const rank = (path: string) =>
    (PROJECTOR_QUANTS.indexOf(quantOf(path) ?? "") + PROJECTOR_QUANTS.length + 1) % (PROJECTOR_QUANTS.length + 1);
  const beside = all.filter(
    ({ path }) => isProjector(path) && stem.startsWith(path.slice(0, path.lastIndexOf("/") + 1)),
  );
  return beside.toSorted((a, b) => rank(a.path) - rank(b.path) || (a.path < b.path ? -1 : 1))[0];
}
