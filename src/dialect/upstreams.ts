// Upstreams: GET /upstreams, and draining and resuming their replicas.

import { checker } from "../contract/schema.ts";
import { DrainRequest, type Upstream, type UpstreamList, type UpstreamReplica } from "../contract/upstreams.ts";
import { invalidValue } from "../domain/errors.ts";
import type { ReplicaStatus, UpstreamStatus } from "../domain/upstream.ts";

const checkDrain = checker(DrainRequest);

/**
 * Returns the URL of the replica that the query or the body names (`body` is undefined when there is none); undefined
 * means all replicas. Throws SvcError about the body, and `invalid_value` when several replicas are named.
 */
export function decodeDrain(query: URLSearchParams, body: unknown): string | undefined {
  const param = "replica";
  const named = body === undefined ? undefined : checkDrain(body).replica;
  const [replica, ...others] = new Set([...query.getAll(param), ...(named == null ? [] : [named])]);
  if (others.length === 0) return replica;
  throw invalidValue(param, "be one replica, in the query and the body", others.length + 1);
}

export const encodeUpstreams = (upstreams: readonly UpstreamStatus[]): UpstreamList => ({
  object: "list",
  data: upstreams.map(encodeUpstream),
});

export const encodeUpstream = ({ name, isConfigured, replicas }: UpstreamStatus): Upstream => ({
  object: "upstream",
  name,
  configured: isConfigured,
  replicas: replicas.map(encodeReplica),
});

function encodeReplica(replica: ReplicaStatus): UpstreamReplica {
  const { url, kind, state, models, running, counts, lastError, retryMs, firstTokenMs: first } = replica;
  return {
    url,
    kind,
    state,
    ...(lastError !== undefined && { last_error: lastError }),
    ...(retryMs !== undefined && { retry_ms: Math.round(retryMs) }),
    models: [...models],
    running,
    requests: counts.requests,
    retries: counts.retries,
    hedges: counts.hedges,
    failures: Object.fromEntries(counts.failures),
    outages: counts.outages,
    affinity_hits: counts.affinityHits,
    affinity_misses: counts.affinityMisses,
    prompt_tokens: counts.promptTokens,
    cached_tokens: counts.cachedTokens,
    completion_tokens: counts.completionTokens,
    ...(first && { first_token_ms: { median: Math.round(first.median), p99: Math.round(first.p99) } }),
  };
}
