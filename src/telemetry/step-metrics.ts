// What the engine's steps look like to a scrape.

import { SPECULATION_SOURCES, acceptedTokens, type SpeculationCounts } from "../domain/speculation.ts";
import { CHUNK_KINDS, CHUNK_TOKENS, PAUSE_CAUSES, STEP_KINDS, STEP_SECONDS, type StepCounts } from "../domain/steps.ts";
import { family, histogram, type Labels } from "./exposition.ts";

/** The families of the engine's steps; counts are a second old at most. */
export function stepFamilies({ durations, chunks, pauses, rows, speculation }: StepCounts, labels: Labels): string[] {
  return [
    histogram(
      "svc_engine_step_duration_seconds",
      "Decode calls by what they computed, sampling included.",
      STEP_SECONDS,
      STEP_KINDS.map((kind) => [{ ...labels, kind }, durations[kind]]),
    ),
    histogram(
      "svc_prefill_chunk_tokens",
      "Prompt tokens in a decode call, alone or mixed with those of running streams.",
      CHUNK_TOKENS,
      CHUNK_KINDS.map((kind) => [{ ...labels, kind }, chunks[kind]]),
    ),
    histogram(
      "svc_stream_pause_seconds",
      "Time of a running stream between two steps, by what it waited for: its own decoding, others' prompts or media.",
      STEP_SECONDS,
      PAUSE_CAUSES.map((cause) => [{ ...labels, cause }, pauses[cause]]),
    ),
    family(
      "counter",
      "svc_engine_step_rows_total",
      "Tokens in decode calls: of running streams, of prompts, of media.",
      Object.entries(rows).map(([kind, count]) => [{ ...labels, kind }, count]),
    ),
    ...speculationFamilies(speculation, labels),
  ];
}

/** What was guessed ahead: from what was said before (`ngram`), and by the draft model. */
function speculationFamilies(speculation: SpeculationCounts, labels: Labels): string[] {
  const counter = (name: string, help: string, value: (counts: SpeculationCounts["draft"]) => number) =>
    family(
      "counter",
      name,
      help,
      SPECULATION_SOURCES.map((source) => [{ ...labels, source }, value(speculation[source])]),
    );
  return [
    counter("svc_spec_decode_num_drafts_total", "Series of guessed tokens.", ({ drafts }) => drafts),
    counter("svc_spec_decode_num_draft_tokens_total", "Tokens that were guessed ahead.", ({ tokens }) => tokens),
    counter("svc_spec_decode_num_accepted_tokens_total", "Guessed tokens that were right.", acceptedTokens),
    family(
      "counter",
      "svc_spec_decode_num_accepted_tokens_per_pos_total",
      "Guessed tokens that were right, by their place in the series, from 0.",
      SPECULATION_SOURCES.flatMap((source) =>
        speculation[source].accepted.map(
          (count, position) => [{ ...labels, source, position: String(position) }, count] as const,
        ),
      ),
    ),
  ];
}
