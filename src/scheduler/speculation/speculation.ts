// Speculative decoding: rows with tokens that the running streams may generate next are checked in the same step. Each is
// still sampled, so answers do not change. Prompt lookup comes first; the draft model drafts for streams without a match.

import { liesApart, type KvLayout } from "../../domain/kv-layout.ts";
import { countDraft, noSpeculation, type SpeculationSource } from "../../domain/speculation.ts";
import type { KvCache } from "../kv/kv-cache.ts";
import { rowOf, type PlanRow, type StepPlan } from "../plan.ts";
import type { Key, Sequence } from "../sequence.ts";
import { SpeculationCost } from "./cost.ts";
import { Drafts, type DraftJob, type DraftLimits, type DraftsDone } from "./drafts.ts";
import { PromptLookup } from "./prompt-lookup.ts";

export interface SpeculationLimits extends DraftLimits {
  readonly layout: KvLayout;
  /** Cells of the KV cache. */
  readonly cells: number;
}

/** Prompt lookup does not pay beside more streams: they fill a step by themselves. */
const MOST_LOOKUP_STREAMS = 4;
/** Most speculative rows of a step; see svc_decode. */
const MOST_ROWS = 64;

export class Speculation {
  /** Speculative tokens so far. */
  readonly counts = noSpeculation();
  private readonly cost = new SpeculationCost();
  private readonly lookup = new PromptLookup(this.cost);
  private readonly drafts: Drafts;
  /** The draft model drafts for this step: multi-step decoding would make it lag behind. */
  drafting = false;
  /** When the newest step was planned. */
  private plannedAt = 0;
  /** The newest step if it was of streams alone. */
  private newest: { readonly streams: number; readonly tokens: number; readonly made: number } | undefined;
  /** Time of the draft model since then. */
  private draftMs = 0;

  constructor(
    private readonly limits: SpeculationLimits,
    private readonly kv: KvCache,
  ) {
    this.drafts = new Drafts(limits, this.cost);
  }

  /**
   * Plans what the draft model does before the next step, when that is of these streams alone; `remaining`: tokens that a
   * request is likely to generate still.
   */
  planDrafts(decoding: readonly Sequence[], remaining: (sequence: Sequence) => number): readonly DraftJob[] {
    this.drafting = false;
    const { length: streams } = decoding;
    if (this.limits.draftMax === 0 || streams === 0 || streams > this.mostStreams) return [];
    const most = Math.floor(MOST_ROWS / streams);
    const limitOf = (sequence: Sequence) => {
      const left = Math.min(most, sequence.left - 1);
      return !sequence.speculate || this.lookedUp(sequence, streams, left).length > 0 ? 0 : left;
    };
    const jobs = this.drafts.plan(decoding, limitOf, remaining);
    this.drafting = jobs.length > 0;
    return jobs;
  }

  /** See Drafts.apply. */
  applyDrafts(done: DraftsDone, running: (key: Key) => Sequence | undefined): void {
    this.draftMs += done.ms;
    this.drafts.apply(done, running);
  }

  /** Adds speculative rows to a step in which only streams are computed; returns how many. */
  add(rows: PlanRow[], decoding: readonly Sequence[], now: number): number {
    this.recordStep(now);
    const { length: streams } = decoding;
    if (streams > this.mostStreams) return 0;
    const { batch, cells } = this.limits;
    const before = rows.length;
    for (const sequence of decoding) {
      if (!sequence.speculate) continue;
      const left = Math.min(batch, cells - this.kv.runningCells, before + MOST_ROWS) - rows.length;
      const limit = Math.min(sequence.left - 1, left);
      const lookedUp = this.lookedUp(sequence, streams, limit);
      const speculative = lookedUp.length > 0 ? "ngram" : "draft";
      const tokens = speculative === "ngram" ? lookedUp : this.drafts.next(sequence, limit);
      for (const [at, token] of tokens.entries()) {
        rows.push({ ...rowOf(sequence, sequence.length + at), token, sample: true, speculative });
      }
    }
    return rows.length - before;
  }

  /** Learns from a plan of streams alone, of which so many steps were made. `running` finds the requests. */
  record(plan: StepPlan, running: (key: Key) => Sequence | undefined, made: number): void {
    this.cost.countSteps(made);
    this.newest = { streams: plan.decodeRows, tokens: plan.speculativeRows, made };
    if (plan.speculativeRows === 0) return;
    const drafts = new Map<Key, { readonly source: SpeculationSource; readonly from: number; tokens: number }>();
    for (const { key, speculative, index } of plan.rows) {
      const draft = drafts.get(key);
      if (draft) draft.tokens++;
      else if (speculative) drafts.set(key, { source: speculative, from: index, tokens: 1 });
    }
    for (const [key, { source, from, tokens }] of drafts) {
      const sequence = running(key);
      if (!sequence) continue;
      const accepted = sequence.computed - from;
      if (source === "ngram") this.lookup.record(sequence, tokens, accepted);
      else this.drafts.record(sequence, tokens, accepted);
      countDraft(this.counts, source, tokens, accepted);
      if (accepted < tokens) this.kv.clearRejected(sequence);
    }
  }

  /** Something else than streams was computed: the time since the newest step is not that step's alone. */
  interrupted(): void {
    this.newest = undefined;
  }

  /** A request stops running; it still has its sequence id. */
  release({ id }: Sequence): void {
    this.drafts.release(id);
  }

  /** Where they lie apart, sequences with different numbers of rows would be computed one after the other. */
  private get mostStreams(): number {
    return liesApart(this.limits.layout) ? 1 : Number.POSITIVE_INFINITY;
  }

  private lookedUp(sequence: Sequence, streams: number, limit: number): Int32Array {
    return streams > MOST_LOOKUP_STREAMS ? NONE : this.lookup.next(sequence, streams, limit);
  }

  /**
   * A step ends when the next one is planned: the messages around it count too, because speculative tokens compete with
   * multi-step decoding, which saves those.
   */
  private recordStep(now: number): void {
    const { newest, plannedAt, draftMs } = this;
    if (newest) this.cost.recordStep(newest.streams, newest.tokens, (now - plannedAt - draftMs) / newest.made);
    this.newest = undefined;
    this.plannedAt = now;
    this.draftMs = 0;
  }
}

const NONE = new Int32Array(0);
