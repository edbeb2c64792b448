// The resources that a profiled request used. null: this machine does not provide the reading.

export interface ProfileSample {
  /** Milliseconds since the request was accepted. */
  readonly ms: number;
  /** Estimated bytes per second that decoding read from memory since the previous sample. */
  readonly bandwidth: number | null;
  /** Utilisation, 0 to 1: of the GPUs, of all CPUs by the engine process, of all CPUs by all processes. */
  readonly gpuShare: number | null;
  readonly cpuShare: number | null;
  readonly systemCpuShare: number | null;
  readonly gpuWatts: number | null;
  readonly cpuWatts: number | null;
  readonly dramWatts: number | null;
  /** Resident memory of the engine process. */
  readonly residentBytes: number;
}

export interface Profile {
  /** Name of the GPUs, else of the processor. */
  readonly chip: string | null;
  readonly weightsBytes: number;
  /** Allocated size of the KV cache for all requests. */
  readonly kvBytes: number;
  /** Maximum bytes per second of the memory. */
  readonly peakBandwidth: number | null;
  /** Estimated bytes per second that decoding read from memory. */
  readonly bandwidth: number | null;
  readonly gpuWatts: { readonly mean: number; readonly peak: number } | null;
  /** How many samples have GPU readings. */
  readonly gpuSamples: number;
  /** Means over the whole request. */
  readonly cpuWatts: number | null;
  readonly dramWatts: number | null;
  readonly cpuShare: number | null;
  readonly samples: readonly ProfileSample[];
}
