// Profiles requests that ask for it: reads the machine's counters at intervals, only while such a request runs.

import { cpus } from "node:os";
import type { LoadedModel } from "../../../../ffi/llama/api.ts";
import { openGpus, type Gpus } from "../../../../ffi/nvml/binding.ts";
import type { Clock } from "../../../domain/clock.ts";
import type { Profile } from "../../../domain/profile.ts";
import { Rapl } from "../../../telemetry/rapl.ts";
import { between, readProcess, samplesOf, type Reading } from "../../../telemetry/readings.ts";
import type { JobKey } from "../../process/protocol.ts";
import type { StepFinish } from "../protocol.ts";
import type { ReadyPrompt } from "./intake.ts";
import type { Decoded, EngineObserver, SchedulerLevels } from "./observer.ts";

const FIRST_SAMPLE_MS = 100;
const SAMPLE_MS = 300;
/** Beyond this number every other reading is dropped, and readings are taken half as often. */
const MOST_READINGS = 1024;

interface ProfilerModel extends Pick<LoadedModel, "bytes" | "context" | "device"> {
  readonly kvTokenBytes: number;
}

/** Counters of the machine; opened with the first profiled request. */
interface Meters {
  readonly rapl: Rapl;
  readonly gpus: Gpus | undefined;
  readonly chip: string | null;
  readonly cpuCount: number;
}

export class Profiler implements EngineObserver {
  private readonly requests = new Map<JobKey, Sampling>();
  private meters: Meters | undefined;
  /** Bytes read by decode steps while a request is profiled, by the formula at `decoded`, and the steps' time. */
  private reads = { bytes: 0, ms: 0 };

  constructor(
    private readonly model: ProfilerModel,
    private readonly clock: Clock,
  ) {}

  accepted({ key, request }: ReadyPrompt): void {
    if (!request.profile) return;
    const meters = (this.meters ??= openMeters(this.model.device));
    this.requests.set(key, new Sampling(() => this.read(meters)));
  }

  /**
   * A step that only decodes reads all weights and the keys and values of every cell in use once, so that
   * bytes = weights + cells × bytes of a cell, and bandwidth = bytes of all such steps / their time. That is an
   * estimate: a mixture of experts does not read all its weights, and processor caches serve what fits them. Steps with
   * prompts are compute-bound and do not count.
   */
  decoded({ step, result, made, before, after }: Decoded, levels: SchedulerLevels): void {
    if (this.requests.size === 0 || !("rows" in step) || step.prefillRows > 0 || result !== "done") return;
    const { bytes, kvTokenBytes } = this.model;
    this.reads = {
      bytes: this.reads.bytes + made * (bytes + levels.kv.runningCells * kvTokenBytes),
      ms: this.reads.ms + after - before,
    };
  }

  finished(finish: StepFinish): StepFinish {
    const sampling = this.requests.get(finish.key);
    if (!sampling || !this.meters) return finish;
    this.requests.delete(finish.key);
    const profile = summarize(this.model, this.meters, sampling.end());
    return { ...finish, event: { ...finish.event, profile } };
  }

  private read({ rapl, gpus }: Meters): Reading {
    return { at: this.clock.now(), ...readProcess(), ...rapl.read(), gpu: gpus?.read(), reads: this.reads };
  }
}

/** Readings of one request: at its start, at intervals, and at its end. */
class Sampling {
  private readings: Reading[];
  private interval = SAMPLE_MS;
  private timer: ReturnType<typeof setTimeout>;

  constructor(private readonly read: () => Reading) {
    this.readings = [read()];
    this.timer = setTimeout(() => this.sample(), FIRST_SAMPLE_MS);
  }

  end(): readonly Reading[] {
    clearTimeout(this.timer);
    this.readings.push(this.read());
    return this.readings;
  }

  private sample(): void {
    this.readings.push(this.read());
    if (this.readings.length > MOST_READINGS) {
      this.readings = this.readings.filter((_, index) => index % 2 === 0);
      this.interval *= 2;
    }
    this.timer = setTimeout(() => this.sample(), this.interval);
  }
}

function summarize(model: ProfilerModel, meters: Meters, readings: readonly Reading[]): Profile {
  const samples = samplesOf(readings, meters.cpuCount);
  const [first, last] = [readings[0], readings.at(-1)];
  if (!first || !last) throw new Error("a profile without readings");
  const { bandwidth, cpuWatts, dramWatts, cpuShare } = between(first, last, meters.cpuCount);
  const watts = samples.flatMap(({ gpuWatts }) => gpuWatts ?? []);
  const mean = watts.reduce((sum, value) => sum + value, 0) / watts.length;
  return {
    chip: meters.chip,
    weightsBytes: model.bytes,
    kvBytes: model.context * model.kvTokenBytes,
    peakBandwidth: meters.gpus?.peakBandwidth ?? null,
    bandwidth,
    gpuWatts: watts.length > 0 ? { mean, peak: Math.max(...watts) } : null,
    gpuSamples: samples.filter(({ gpuWatts, gpuShare }) => gpuWatts !== null || gpuShare !== null).length,
    cpuWatts,
    dramWatts,
    cpuShare,
    samples,
  };
}

function openMeters(device: string): Meters {
  const processors = cpus();
  const onCpu = device.startsWith("CPU (");
  return {
    rapl: new Rapl(),
    gpus: onCpu ? undefined : openGpus(device),
    chip: onCpu ? (processors[0]?.model ?? null) : device,
    cpuCount: processors.length,
  };
}
