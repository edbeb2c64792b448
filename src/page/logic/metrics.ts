// Reads the samples of /metrics.

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Parses Prometheus text; skips lines that are not samples. */
export function readSamples(text: string): Sample[] {
  return text.split("\n").flatMap((line): Sample[] => {
    const found = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
    if (!found) return [];
    const [, name = "", labels = "", value = ""] = found;
    return [{ name, labels: readLabels(labels), value: Number(value.replace("+Inf", "Infinity")) }];
  });
}

const readLabels = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = "", value = ""]) => [
      name,
      value.replaceAll(/\\(.)/g, (_, sign: string) => (sign === "n" ? "\n" : sign)),
    ]),
  );

/** Returns the sum of a metric over all models and engines; undefined when the server does not have it. */
export function total(samples: readonly Sample[], name: string): number | undefined {
  const found = samples.filter((sample) => sample.name === name);
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}

/** The watched levels at one moment. */
export interface Levels {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly tokensPerSecond: number;
  readonly promptTokensPerSecond: number;
  readonly running: number;
  readonly waiting: number;
  readonly kvUsed: number;
  readonly kvSize: number;
}

export function levelsOf(samples: readonly Sample[], at: number): Levels {
  const sum = (name: string) => total(samples, `svc_${name}`) ?? 0;
  return {
    at,
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
