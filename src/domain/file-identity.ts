/** Identifies a model file without reading all of it. */
export interface FileIdentity {
  /** SHA-256 over the header with the tensor table, the size and samples of the weights of all parts of the file. */
  readonly hash: string;
  /** Whether the file has two sets of RoPE factors, between which the size of the context decides. */
  readonly ropeByContext: boolean;
}
