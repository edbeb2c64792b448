// LoRA adapters: small additions to the model's weights that a request may select.

/** An adapter that the server offers. */
export interface Adapter {
  /** The model name by which clients select the adapter. */
  readonly name: string;
  /** Absolute path of the file. */
  readonly path: string;
  /** Scale for requests that select no adapters; 0: off. */
  readonly scale: number;
}

/** An adapter with the metadata of its file. */
export interface OfferedAdapter extends Adapter {
  /** Size of its weights. */
  readonly bytes: number;
  /** Modification time of the file, Unix seconds. */
  readonly created: number;
  /** The task and the prompt prefix that the adapter's authors name in the file; often empty. */
  readonly taskName: string;
  readonly promptPrefix: string;
}

/** An adapter, by its index among the offered ones, and the scale with which it is added to the model. */
export interface AdapterScale {
  readonly id: number;
  readonly scale: number;
}

/** The adapters that compute a request: each once, sorted by id, none with scale 0. Empty: the model alone. */
export type AdapterSet = readonly AdapterScale[];

/** Returns the set of these adapters, each of which must occur only once. */
export const adapterSet = (scales: readonly AdapterScale[]): AdapterSet =>
  scales.filter(({ scale }) => scale !== 0).toSorted((a, b) => a.id - b.id);

/** Returns the set for requests that select no adapters. */
export const defaultAdapters = (offered: readonly Adapter[]): AdapterSet =>
  adapterSet(offered.map(({ scale }, id) => ({ id, scale })));

/**
 * Returns a key that is the same for equal sets and for no others; empty for the model alone. `hashes`: hashes of the
 * files of the offered adapters; with them, a key stays the same when the list of offered adapters changes.
 */
export const adapterKey = (set: AdapterSet, hashes: readonly string[] = []): string =>
  set
    .map(({ id, scale }) => `${hashes[id] ?? id}:${scale}`)
    .toSorted()
    .join(" ");
