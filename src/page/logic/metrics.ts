// Reads the levels that are watched from /metrics, and draws them.

/** The watched levels at one moment. */
export interface Levels {
  readonly tokensPerSecond: number;
  readonly promptTokensPerSecond: number;
  readonly running: number;
  readonly waiting: number;
  readonly kvUsed: number;
  readonly kvSize: number;
}

/** Reads the levels from Prometheus text, added over all models and engines. */
export function levelsOf(metrics: string): Levels {
  const sums = new Map<string, number>();
  for (const [, name = "", value = ""] of metrics.matchAll(/^svc_(\w+)(?:\{.*\})? (\S+)/gm)) {
    sums.set(name, (sums.get(name) ?? 0) + Number(value));
  }
  const sum = (name: string) => sums.get(name) ?? 0;
  return {
    tokensPerSecond: sum("avg_generation_throughput_toks_per_s"),
    promptTokensPerSecond: sum("avg_prompt_throughput_toks_per_s"),
    running: sum("num_requests_running"),
    waiting: sum("num_requests_waiting"),
    kvUsed: sum("kv_cache_used_tokens"),
    kvSize: sum("kv_cache_size_tokens"),
  };
}

interface Line {
  /** `d` of an SVG path, for the line and for the area below it. */
  readonly line: string;
  readonly area: string;
}

/**
 * Draws values as a line in a box of `slots` values, the newest at the right. The height stands for `most`, or for the
 * largest value if that is more.
 */
export function lineOf(values: readonly number[], { slots, width, height, most }: Box): Line {
  const top = Math.max(most, ...values);
  const step = width / (slots - 1);
  const points = values.map((value, index) => {
    const x = width - (values.length - 1 - index) * step;
    return [round(x), round(height - (value / top) * height)] as const;
  });
  const line = points.map(([x, y], index) => `${index === 0 ? "M" : "L"}${x} ${y}`).join("");
  const [first, last] = [points[0], points.at(-1)];
  return { line, area: first && last ? `${line}L${last[0]} ${height}L${first[0]} ${height}Z` : "" };
}

interface Box {
  readonly slots: number;
  readonly width: number;
  readonly height: number;
  readonly most: number;
}

const round = (value: number): number => Math.round(value * 10) / 10;
