// What a profiled request cost the machine. Null is what cannot be read on this machine.

export interface ProfileSample {
  /** Milliseconds since the request was accepted. */
  readonly ms: number;
  /** Bytes per second that decoding is estimated to have read from memory since the sample before. */
  readonly bandwidth: number | null;
  /** Utilisation, 0 to 1: of the GPUs, of all CPUs by the engine process, of all CPUs by everybody. */
  readonly gpuShare: number | null;
  readonly cpuShare: number | null;
  readonly systemCpuShare: number | null;
  readonly gpuWatts: number | null;
  readonly cpuWatts: number | null;
  readonly dramWatts: number | null;
  /** Memory of the engine process. */
  readonly residentBytes: number;
}

export interface Profile {
  /** Name of what computes: the GPUs, else the processor. */
  readonly chip: string | null;
  readonly weightsBytes: number;
  /** The KV cache as it is allocated, for all requests. */
  readonly kvBytes: number;
  /** Bytes per second that the memory delivers at most. */
  readonly peakBandwidth: number | null;
  /** Bytes per second that decoding is estimated to have read. */
  readonly bandwidth: number | null;
  readonly gpuWatts: { readonly mean: number; readonly peak: number } | null;
  /** Samples that have GPU readings. */
  readonly gpuSamples: number;
  /** Means over the whole request. */
  readonly cpuWatts: number | null;
  readonly dramWatts: number | null;
  readonly cpuShare: number | null;
  readonly samples: readonly ProfileSample[];
}
