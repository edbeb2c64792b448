// The Prometheus text format (version 0.0.4): families of counters, gauges and histograms.

export type Labels = Readonly<Record<string, string>>;

const text = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length > 0 ? `{${pairs.join(",")}}` : "";
};

const escapeLabel = (value: string) => value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

/** One family with a single kind of number in it. */
export function family(
  kind: "counter" | "gauge",
  name: string,
  help: string,
  samples: readonly (readonly [Labels, number])[],
): string {
  const lines = samples.map(([labels, value]) => `${name}${text(labels)} ${value}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`, ...lines].join("\n");
}

/** Values in buckets: `counts` holds one number a bound and one for what is beyond the last; none is in two. */
export interface Buckets {
  readonly counts: readonly number[];
  readonly sum: number;
}

/** A family of histograms over the same upper bounds, ascending; the last, infinite one is implied. */
export function histogram(
  name: string,
  help: string,
  bounds: readonly number[],
  samples: readonly (readonly [Labels, Buckets])[],
): string {
  const lines = samples.flatMap(([labels, { counts, sum }]) => {
    let below = 0;
    const buckets = [...bounds.map(String), "+Inf"].map((le, index) => {
      below += counts[index] ?? 0;
      return `${name}_bucket${text({ ...labels, le })} ${below}`;
    });
    return [...buckets, `${name}_sum${text(labels)} ${sum}`, `${name}_count${text(labels)} ${below}`];
  });
  return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...lines].join("\n");
}

/** Counts values by upper bounds, with their sum. */
export class Histogram implements Buckets {
  readonly counts: number[];
  sum = 0;

  constructor(
    private readonly name: string,
    private readonly help: string,
    private readonly bounds: readonly number[],
  ) {
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    this.sum += value;
    // Not with findIndex: this is called for every token.
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] as number)) bucket++;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
  }

  render(labels: Labels): string {
    return histogram(this.name, this.help, this.bounds, [[labels, this]]);
  }
}
