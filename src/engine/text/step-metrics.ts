// Presents the engine's decode steps to a scrape.

import { acceptedTokens, SPECULATION_SOURCES, type SpeculationCounts } from "../../domain/speculation.ts";
import {
  CHUNK_KINDS,
  CHUNK_TOKENS,
  PAUSE_CAUSES,
  STEP_KINDS,
  STEP_SECONDS,
  type StepCounts,
} from "../../domain/steps.ts";
import { by, type Metric } from "../../telemetry/exposition.ts";

/** Returns the metrics of the engine's steps; counts are at most a second old. */
export const stepMetrics = ({ durations, chunks, pauses, rows, speculation }: StepCounts): Metric[] => [
  {
    type: "histogram",
    name: "svc_engine_step_duration_seconds",
    help: "Time of decode calls including sampling, by what they computed.",
    bounds: STEP_SECONDS,
    samples: STEP_KINDS.map((kind) => [{ kind }, durations[kind]]),
  },
  {
    type: "histogram",
    name: "svc_prefill_chunk_tokens",
    help: "Prompt tokens in a decode call, alone or together with tokens of running streams.",
    bounds: CHUNK_TOKENS,
    samples: CHUNK_KINDS.map((kind) => [{ kind }, chunks[kind]]),
  },
  {
    type: "histogram",
    name: "svc_stream_pause_seconds",
    help: "Time between two steps of a running stream, by what it waited for: its own decoding, or prompts or media of other requests.",
    bounds: STEP_SECONDS,
    samples: PAUSE_CAUSES.map((cause) => [{ cause }, pauses[cause]]),
  },
  by(
    "counter",
    "svc_engine_step_rows_total",
    "Tokens in decode calls: of running streams, of prompts, of media.",
    "kind",
    Object.entries(rows),
  ),
  ...speculationMetrics(speculation),
];

/** Returns the metrics of speculative decoding: `ngram` by prompt lookup, `draft` by the draft model. */
function speculationMetrics(speculation: SpeculationCounts): Metric[] {
  const counts = (name: string, help: string, value: (counts: SpeculationCounts["draft"]) => number) =>
    by(
      "counter",
      name,
      help,
      "source",
      SPECULATION_SOURCES.map((source) => [source, value(speculation[source])]),
    );
  return [
    counts("svc_spec_decode_num_drafts_total", "Drafts: series of speculative tokens.", ({ drafts }) => drafts),
    counts("svc_spec_decode_num_draft_tokens_total", "Speculative tokens.", ({ tokens }) => tokens),
    counts("svc_spec_decode_num_accepted_tokens_total", "Speculative tokens that were accepted.", acceptedTokens),
    {
      type: "counter",
      name: "svc_spec_decode_num_accepted_tokens_per_pos_total",
      help: "Speculative tokens that were accepted, by their position in the draft, from 0.",
      samples: SPECULATION_SOURCES.flatMap((source) =>
        speculation[source].accepted.map((count, position) => [{ source, position: String(position) }, count] as const),
      ),
    },
  ];
}
