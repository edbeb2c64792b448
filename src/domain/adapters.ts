// LoRA adapters: small additions to the model's weights, which a request may choose.

/** An adapter that the server offers. */
export interface Adapter {
  /** By this as model name clients ask for it. */
  readonly name: string;
  /** Absolute path of the file. */
  readonly path: string;
  /** How much of it requests get that choose nothing; 0 is off. */
  readonly scale: number;
}

/** What is known of an adapter from its file. */
export interface OfferedAdapter extends Adapter {
  /** Of its weights. */
  readonly bytes: number;
  /** Last change of the file, Unix seconds. */
  readonly created: number;
  /** What its makers say it is for, and what prompts for it begin with; often nothing. */
  readonly taskName: string;
  readonly promptPrefix: string;
}

/** An adapter by its place among those that are offered, and how much of it is added to the model. */
export interface AdapterScale {
  readonly id: number;
  readonly scale: number;
}

/** The adapters that compute a request: each once, by id, none with scale 0. Without any it is the model alone. */
export type AdapterSet = readonly AdapterScale[];

/** The set of these adapters, each of which is named once. */
export const adapterSet = (scales: readonly AdapterScale[]): AdapterSet =>
  scales.filter(({ scale }) => scale !== 0).toSorted((a, b) => a.id - b.id);

/** What requests get that choose nothing. */
export const defaultAdapters = (offered: readonly Adapter[]): AdapterSet =>
  adapterSet(offered.map(({ scale }, id) => ({ id, scale })));

/**
 * The same for equal sets and for no others; empty for the model alone. `hashes`: of the files of those that are offered;
 * with them a key means the same wherever these are among others.
 */
export const adapterKey = (set: AdapterSet, hashes: readonly string[] = []): string =>
  set
    .map(({ id, scale }) => `${hashes[id] ?? id}:${scale}`)
    .toSorted()
    .join(" ");
