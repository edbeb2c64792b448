/** Tells a model file from others without reading all of it. */
export interface FileIdentity {
  /** SHA-256 of its header with the table of tensors, its size and samples of the weights; of all parts. */
  readonly hash: string;
  /** It has two sets of rope factors, and the size of the context chooses between them. */
  readonly ropeByContext: boolean;
}
