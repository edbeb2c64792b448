// The header that requests a profile of the resources used by an answer, and the profile itself.

import type { ChatProfileEvent, ProfileDetail, SvcProfile, SvcProfileExtended } from "../../contract/chat.ts";
import { invalidValue } from "../../domain/errors.ts";
import { GIB } from "../../domain/gib.ts";
import type { Profile, ProfileSample } from "../../domain/profile.ts";
import type { Usage } from "../../domain/usage.ts";
import { computed, decodeSteps, rate, rounded } from "../fields/usage.ts";

const param = "X-Svc-Profile";

/** Returns the requested profile, undefined without the header. Throws SvcError `invalid_value` about other values. */
export function decodeProfile(header: string | null): ProfileDetail | undefined {
  if (header === null) return undefined;
  const detail = header.trim().toLowerCase();
  if (detail === "true" || detail === "extended") return detail;
  throw invalidValue(param, "be one of true, extended", `a string of length ${header.length}`);
}

/**
 * Returns the profile under the key for `detail`, or nothing. With several choices, `profile` is that of the last
 * choice to end. A request that never reached the engine has no profile: its values are null.
 */
export function encodeProfile(
  detail: ProfileDetail | undefined,
  usage: Usage,
  profile: Profile | undefined,
): ChatProfileEvent {
  if (!detail) return {};
  const summary = summarize(usage, profile);
  if (detail === "true") return { svc_profile: summary };
  return { svc_profile_extended: { summary, samples: (profile?.samples ?? []).map(encodeSample) } };
}

function summarize(usage: Usage, profile: Profile | undefined): SvcProfile {
  return {
    gpu_power_avg_w: tenths(profile?.gpuWatts?.mean),
    gpu_power_peak_w: tenths(profile?.gpuWatts?.peak),
    gpu_samples: profile?.gpuSamples ?? 0,
    cpu_power_avg_w: tenths(profile?.cpuWatts),
    dram_power_avg_w: tenths(profile?.dramWatts),
    cpu_pct: percent(profile?.cpuShare),
    memory_weights_gib: profile ? gib(profile.weightsBytes) : null,
    memory_kv_gib: profile ? gib(profile.kvBytes) : null,
    memory_peak_gib: gib(usage.peakMemoryBytes),
    prefill_tok_s: rate(computed(usage), usage.promptMs) || null,
    decode_tok_s: rate(decodeSteps(usage), usage.completionMs) || null,
    chip: profile?.chip ?? null,
    theoretical_bw_gbs: gigabytes(profile?.peakBandwidth),
    est_bandwidth_gbs: gigabytes(profile?.bandwidth),
  };
}

function encodeSample(sample: ProfileSample): SvcProfileExtended["samples"][number] {
  return {
    t: rounded(sample.ms / 1000),
    bw_gbs: gigabytes(sample.bandwidth),
    gpu_pct: percent(sample.gpuShare),
    gpu_power_w: tenths(sample.gpuWatts),
    cpu_pct: percent(sample.cpuShare),
    system_cpu_pct: percent(sample.systemCpuShare),
    cpu_power_w: tenths(sample.cpuWatts),
    dram_power_w: tenths(sample.dramWatts),
    memory_gib: gib(sample.residentBytes),
  };
}

type Unsure = number | null | undefined;

const tenths = (value: Unsure): number | null => (value == null ? null : rounded(value, 1));
const percent = (share: Unsure): number | null => (share == null ? null : rounded(100 * share, 1));
/** Rounds to five significant digits: a small model on a busy machine reads little, but more than zero. */
const gigabytes = (bytes: Unsure): number | null => (bytes == null ? null : Number((bytes / 1e9).toPrecision(5)));
const gib = (bytes: number): number => rounded(bytes / GIB);
