// Speculative decoding: a step also computes rows with tokens that the running streams may generate next. Each token is
// still sampled, so answers do not change. Prompt lookup comes first; the draft model serves streams without a match.

import { liesApart } from "../../domain/kv-layout.ts";
import { countDraft, noSpeculation, type SpeculationSource } from "../../domain/speculation.ts";
import type { KvCache } from "../kv/kv-cache.ts";
import type { SchedulerLimits } from "../limits.ts";
import { rowOf, type PlanRow, type StepPlan } from "../plan.ts";
import type { Key, Sequence } from "../sequence.ts";
import { SpeculationCost } from "./cost.ts";
import { Drafts, type DraftJob, type DraftsDone } from "./drafts.ts";
import { PromptLookup } from "./prompt-lookup.ts";

/** With more streams than this, prompt lookup does not pay: they fill a step by themselves. */
const MOST_LOOKUP_STREAMS = 4;
/** Maximum number of speculative rows in a step; see svc_decode. */
const MOST_ROWS = 64;

export class Speculation {
  /** Speculative tokens so far. */
  readonly counts = noSpeculation();
  private readonly cost = new SpeculationCost();
  private readonly lookup = new PromptLookup(this.cost);
  private readonly drafts: Drafts;
  /** Whether the draft model has jobs before this step: multi-step decoding would then make it lag behind. */
  drafting = false;
  /** When the newest step was planned. */
  private plannedAt = 0;
  /** The newest step, if only streams were computed in it. */
  private newest: { readonly streams: number; readonly tokens: number; readonly made: number } | undefined;
  /** Milliseconds of the draft model since the newest step was planned. */
  private draftMs = 0;

  constructor(
    private readonly limits: SchedulerLimits,
    private readonly kv: KvCache,
  ) {
    this.drafts = new Drafts(limits, this.cost);
  }

  /**
   * Plans the draft model's jobs before the next step, when that step computes only these streams. `likelyLeft`: how
   * many more tokens a request is likely to generate.
   */
  planDrafts(decoding: readonly Sequence[], likelyLeft: (sequence: Sequence) => number): readonly DraftJob[] {
    this.drafting = false;
    const { length: streams } = decoding;
    if (this.limits.draftMax === 0 || streams === 0 || streams > this.mostStreams) return [];
    const most = Math.floor(MOST_ROWS / streams);
    const limitOf = (sequence: Sequence) => {
      const left = Math.min(most, sequence.mostLeft - 1);
      return !sequence.speculate || this.lookedUp(sequence, streams, left).length > 0 ? 0 : left;
    };
    const jobs = this.drafts.plan(decoding, limitOf, likelyLeft);
    this.drafting = jobs.length > 0;
    return jobs;
  }

  /** Applies the results of the draft model; see Drafts.apply. */
  applyDrafts(done: DraftsDone, running: (key: Key) => Sequence | undefined): void {
    this.draftMs += done.ms;
    this.drafts.apply(done, running);
  }

  /** Adds speculative rows to a step that computes only streams; returns how many. */
  add(rows: PlanRow[], decoding: readonly Sequence[], now: number): number {
    this.recordStep(now);
    const { length: streams } = decoding;
    if (streams > this.mostStreams) return 0;
    const { batch, cells } = this.limits;
    const before = rows.length;
    const most = Math.min(batch, cells - this.kv.runningCells, before + MOST_ROWS);
    for (const sequence of decoding) {
      if (!sequence.speculate) continue;
      const limit = Math.min(sequence.mostLeft - 1, most - rows.length);
      const lookedUp = this.lookedUp(sequence, streams, limit);
      const speculative = lookedUp.length > 0 ? "ngram" : "draft";
      const tokens = speculative === "ngram" ? lookedUp : this.drafts.next(sequence, limit);
      for (const [at, token] of tokens.entries()) {
        rows.push({ ...rowOf(sequence, sequence.length + at), token, sample: true, speculative });
      }
    }
    return rows.length - before;
  }

  /** Learns from a plan of streams only, of which `made` steps were made. `running` returns the request with a key. */
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

  /** Records that something other than streams was computed: the time since the newest step is not only that step's. */
  interrupted(): void {
    this.newest = undefined;
  }

  /** Records that a request stops running. Call it while the request still has its sequence id. */
  release({ id }: Sequence): void {
    this.drafts.release(id);
  }

  /** Where sequences lie apart, those with different numbers of rows would be computed one after the other. */
  private get mostStreams(): number {
    return liesApart(this.limits.layout) ? 1 : Number.POSITIVE_INFINITY;
  }

  private lookedUp(sequence: Sequence, streams: number, limit: number): Int32Array {
    return streams > MOST_LOOKUP_STREAMS ? NONE : this.lookup.next(sequence, streams, limit);
  }

  /**
   * Records the newest step, which ends when the next one is planned: the messages around a step count too, because
   * speculative tokens compete with multi-step decoding, which saves messages.
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
