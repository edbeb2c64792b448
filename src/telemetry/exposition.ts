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

/** Counts values by upper bounds, with their sum. */
export class Histogram {
  private readonly counts: number[];
  private sum = 0;
  private total = 0;

  constructor(
    private readonly name: string,
    private readonly help: string,
    /** Upper bounds, ascending; the last, infinite one is implied. */
    private readonly bounds: readonly number[],
  ) {
    this.counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.sum += value;
    this.total++;
    const bucket = this.bounds.findIndex((bound) => value <= bound);
    if (bucket >= 0) this.counts[bucket] = (this.counts[bucket] as number) + 1;
  }

  render(labels: Labels): string {
    const lines = [`# HELP ${this.name} ${this.help}`, `# TYPE ${this.name} histogram`];
    let below = 0;
    for (const [index, bound] of this.bounds.entries()) {
      below += this.counts[index] as number;
      lines.push(`${this.name}_bucket${text({ ...labels, le: String(bound) })} ${below}`);
    }
    lines.push(`${this.name}_bucket${text({ ...labels, le: "+Inf" })} ${this.total}`);
    lines.push(`${this.name}_sum${text(labels)} ${this.sum}`, `${this.name}_count${text(labels)} ${this.total}`);
    return lines.join("\n");
  }
}
