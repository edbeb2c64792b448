// Metrics as values, and their rendering in the Prometheus text format (version 0.0.4).

export type Labels = Readonly<Record<string, string>>;

/** A histogram: `counts` has a count for each bound and one for larger values. Each value is in one bucket only. */
interface Buckets {
  readonly counts: readonly number[];
  readonly sum: number;
}

/** A family of samples; each sample has the labels that distinguish it from the others. */
export type Metric = { readonly name: string; readonly help: string } & (
  | { readonly type: "counter" | "gauge"; readonly samples: readonly (readonly [Labels, number])[] }
  | {
      readonly type: "histogram";
      /** Upper bounds, ascending; a last, infinite bound is implied. */
      readonly bounds: readonly number[];
      readonly samples: readonly (readonly [Labels, Buckets])[];
    }
);

/** Metrics of one subject, with the labels that all their samples have. */
export interface MetricTable {
  readonly labels: Labels;
  readonly metrics: readonly Metric[];
}

const NONE: Labels = {};

export function gauge(name: string, help: string, value: number): Metric {
  return { type: "gauge", name, help, samples: [[NONE, value]] };
}

export function counter(name: string, help: string, value: number): Metric {
  return { type: "counter", name, help, samples: [[NONE, value]] };
}

/** Returns a metric with a sample for each value of a label. */
export function by(
  type: "counter" | "gauge",
  name: string,
  help: string,
  label: string,
  values: Iterable<readonly [string, number]>,
): Metric {
  return { type, name, help, samples: [...values].map(([value, count]) => [{ [label]: value }, count]) };
}

/** Returns the text exposition, with one family per name even if its samples are in several tables. */
export function exposition(tables: readonly MetricTable[]): string {
  const families = new Map<string, string[]>();
  for (const { labels, metrics } of tables) {
    for (const metric of metrics) {
      const { name, help, type } = metric;
      const lines = families.get(name) ?? [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
      families.set(name, lines);
      lines.push(...samplesOf(metric, labels));
    }
  }
  return `${[...families.values()].flat().join("\n")}\n`;
}

function samplesOf(metric: Metric, common: Labels): string[] {
  const { name } = metric;
  if (metric.type !== "histogram") {
    return metric.samples.map(([labels, value]) => `${name}${text({ ...common, ...labels })} ${value}`);
  }
  return metric.samples.flatMap(([own, { counts, sum }]) => {
    const labels = { ...common, ...own };
    let below = 0;
    const buckets = [...metric.bounds.map(String), "+Inf"].map((le, index) => {
      below += counts[index] ?? 0;
      return `${name}_bucket${text({ ...labels, le })} ${below}`;
    });
    return [...buckets, `${name}_sum${text(labels)} ${sum}`, `${name}_count${text(labels)} ${below}`];
  });
}

const text = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length > 0 ? `{${pairs.join(",")}}` : "";
};

const escapeLabel = (value: string) => value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

/** Counts by labels. Those passed to the constructor start at 0, so that a scraper notices the first increase of each. */
export class Counts<Of extends Labels = Labels> {
  private readonly counts = new Map<string, { readonly labels: Of; count: number }>();

  constructor(known: readonly Of[] = []) {
    for (const labels of known) this.add(labels, 0);
  }

  add(labels: Of, count = 1): void {
    const key = Object.values(labels).join(" ");
    const entry = this.counts.get(key) ?? { labels, count: 0 };
    entry.count += count;
    this.counts.set(key, entry);
  }

  metric(name: string, help: string): Metric {
    return { type: "counter", name, help, samples: [...this.counts.values()].map((one) => [one.labels, one.count]) };
  }
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
    // A loop instead of findIndex, because this is called for every token.
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] as number)) bucket++;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
  }

  metric(): Metric {
    return { type: "histogram", name: this.name, help: this.help, bounds: this.bounds, samples: [[NONE, this]] };
  }
}
