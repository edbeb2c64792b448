// Decides how much of a model goes onto the GPUs of this machine, and how large its context is there.

import { memorySize } from "../domain/gib.ts";
import { usableBytes, type Gpu, type GpuClaim } from "../domain/gpu.ts";
import {
  bufferBytes,
  chooseContext,
  kvBytesPerToken,
  spareOf,
  type ContextChoice,
  type ContextNeeds,
} from "./context.ts";

/** Memory that a model may take, in bytes. */
export interface Capacity {
  /** Of RAM. */
  readonly host: number;
  readonly gpus: number;
  /** Whether `gpus` is a part of `host`. */
  readonly isShared: boolean;
}

export interface Placement {
  readonly context: ContextChoice;
  /** Layers on GPUs, as llama.cpp counts them; -1: all. */
  readonly gpuLayers: number;
  /** Whether some layers are on GPUs, and others are not. */
  readonly isDivided: boolean;
  /** Explains why not all layers are on GPUs, in one sentence. */
  readonly note?: string;
  /** Says that the memory is not enough, in one sentence. */
  readonly warning?: string;
}

/** How a model is divided over GPUs; see the options. */
interface Split {
  readonly splitMode: "layer" | "row" | "none";
  readonly mainGpu: number;
  readonly tensorSplit: readonly number[];
}

type Needs = Omit<ContextNeeds, "availableBytes" | "hostBytes">;

/** With fewer tokens on GPUs alone, RAM takes some of the layers. */
const LEAST_CONTEXT = 4096;

/** Returns the bytes that a model may take of the GPUs, divided as the options say. */
export function gpuCapacity(gpus: readonly Gpu[], { splitMode, mainGpu, tensorSplit }: Split): number {
  if (splitMode === "none") return usableBytes(gpus.slice(mainGpu, mainGpu + 1));
  const shares = gpus.map((gpu, at) => ({ bytes: usableBytes([gpu]), share: tensorSplit[at] ?? 0 }));
  const all = shares.reduce((sum, { share }) => sum + share, 0);
  if (all === 0) return usableBytes(gpus);
  // The GPU that is full first limits the others.
  return Math.min(...shares.map(({ bytes, share }) => (share > 0 ? (bytes * all) / share : Infinity)));
}

/**
 * Chooses where the layers go, and the context. `gpuLayers` -1: all onto GPUs, if they then have the requested context, or
 * 4096 tokens; else as many as fit with a context for which all memory counts. Any other number is taken as it is.
 * `needs.canPage`: whether pages are possible where RAM holds everything.
 */
export function placeModel(needs: Needs, gpuLayers: number, capacity: Capacity): Placement {
  const { host, gpus, isShared } = capacity;
  const buffers = bufferBytes(needs);
  const units = unitsOf(needs.model);
  // A draft model has as many layers there as the model, but seldom more than those: it is counted whole.
  const draftBytes = ({ context }: ContextChoice) =>
    needs.draft ? needs.draft.tensorBytes + context * kvBytesPerToken(needs.draft, needs.kvType) : 0;
  const choose = (availableBytes: number) => chooseContext({ ...needs, canPage: false, availableBytes });
  if (gpuLayers >= 0) {
    const share = Math.min(1, gpuLayers / units);
    const within = (draft: number) => {
      const whole = buffers + draft;
      const beside = isShared ? host - whole : host / (1 - share);
      return choose(whole + Math.min((gpus - whole) / share, beside));
    };
    const context = within(gpuLayers > 0 ? draftBytes(within(0)) : 0);
    const whole = buffers + (gpuLayers > 0 ? draftBytes(context) : 0);
    return { gpuLayers, isDivided: share < 1, ...put(context, partOf(context, share, whole), capacity) };
  }
  const whole = choose(gpus);
  const enough = needs.requested ?? Math.min(needs.model.trainedContext, LEAST_CONTEXT);
  const suffices = whole.needBytes <= gpus && whole.context >= enough;
  const context = suffices ? whole : choose(isShared ? host : host + gpus);
  if (context.needBytes <= gpus) return { gpuLayers, isDivided: false, ...put(context, context.needBytes, capacity) };
  const undivided = buffers + draftBytes(context);
  const fitting = Math.floor((units * (gpus - undivided)) / (context.needBytes - undivided));
  if (fitting <= 0) {
    const onHost = chooseContext({ ...needs, availableBytes: host });
    const note = "no layer fits on GPUs; the CPU computes all";
    return { gpuLayers: 0, isDivided: false, ...put(onHost, 0, capacity), note };
  }
  const note = `${fitting} of ${units} layers fit on GPUs; the CPU computes the others`;
  const onGpus = partOf(context, fitting / units, undivided);
  return { gpuLayers: fitting, isDivided: true, ...put(context, onGpus, capacity), note };
}

/** llama.cpp counts the output as one more layer. */
const unitsOf = ({ kvHeads }: Pick<Needs["model"], "kvHeads">): number => kvHeads.length + 1;

/** Returns the bytes on GPUs that have this share of the layers, and all of what is not divided. */
const partOf = ({ needBytes }: ContextChoice, share: number, undivided: number): number =>
  undivided + share * (needBytes - undivided);

/** Fits the host cache into what is left of RAM when GPUs hold `onGpus` bytes; warns where they do not fit. */
function put(
  context: ContextChoice,
  onGpus: number,
  { host, gpus, isShared }: Capacity,
): Pick<Placement, "context" | "warning"> {
  const { needBytes } = context;
  const inRam = isShared ? needBytes : needBytes - onGpus;
  const placed = { context: { ...context, spareBytes: spareOf(Math.max(0, host - inRam)) } };
  if (onGpus <= gpus && inRam <= host) return placed;
  const part = onGpus > 0 ? `, ${memorySize(onGpus)} of it on GPUs` : "";
  const free = `${memorySize(host)} are free, and ${memorySize(gpus)} on GPUs`;
  return {
    ...placed,
    warning: `the model needs ${memorySize(needBytes)} of memory${part}; ${free}: loading may take long, or fail`,
  };
}

/**
 * Returns what a model of at least `bytes` takes of the GPUs, if nothing else is there; undefined where it takes nothing
 * that is not RAM.
 */
export function gpuClaim(
  model: Needs["model"],
  bytes: number,
  gpuLayers: number,
  gpus: readonly Gpu[],
): GpuClaim | undefined {
  if (gpuLayers === 0 || gpus.length === 0 || gpus.some(({ isShared }) => isShared)) return undefined;
  const buffers = bufferBytes({ model });
  if (gpuLayers < 0) return { bytes: Math.min(bytes + buffers, usableBytes(gpus, "total")), orHost: true };
  return { bytes: bytes * Math.min(1, gpuLayers / unitsOf(model)) + buffers, orHost: false };
}
