// Reads the Prometheus text format (version 0.0.4) strictly, as a scraper would: throws at the first line that is wrong.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
const LINE = new RegExp(`^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)?\\})? (\\S+)$`);
const SUFFIX: Readonly<Record<string, readonly string[]>> = { histogram: ["_bucket", "_sum", "_count"] };

/** Returns families by name. Requires HELP and TYPE before the samples of each family, and each sample only once. */
export function parseExposition(text: string): Map<string, Family> {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let help: { name: string; text: string } | undefined;
  let current: { name: string; family: Family } | undefined;
  for (const line of text.slice(0, -1).split("\n")) {
    const comment = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line);
    if (comment?.[1] === "HELP") help = { name: String(comment[2]), text: String(comment[3]) };
    else if (comment) {
      const [, , name = "", type = ""] = comment;
      if (help?.name !== name || families.has(name)) throw new Error(`TYPE without its HELP, or twice: ${line}`);
      current = { name, family: { type, help: help.text, samples: [] } };
      families.set(name, current.family);
    } else {
      const sample = parseSample(line);
      const names = current && (SUFFIX[current.family.type] ?? [""]).map((suffix) => current?.name + suffix);
      if (!current || !names?.includes(sample.name)) throw new Error(`sample outside its family: ${line}`);
      const key = line.slice(0, line.lastIndexOf(" "));
      if (seen.has(key)) throw new Error(`sample twice: ${line}`);
      seen.add(key);
      current.family.samples.push(sample);
    }
  }
  for (const [name, family] of families) if (family.type === "histogram") checkHistogram(name, family);
  return families;
}

function parseSample(line: string): Sample {
  const match = LINE.exec(line);
  const value = Number(match?.[3]);
  if (!match || Number.isNaN(value)) throw new Error(`not a sample: ${line}`);
  const pairs = [...(match[2] ?? "").matchAll(new RegExp(LABEL, "g"))].map(([pair]) => {
    const at = pair.indexOf("=");
    return [pair.slice(0, at), JSON.parse(pair.slice(at + 1)) as string] as const;
  });
  return { name: String(match[1]), labels: Object.fromEntries(pairs), value };
}

/** Throws unless buckets ascend in bound and count, and the infinite bucket equals the count. */
function checkHistogram(name: string, family: Family): void {
  const ofOne = ({ labels }: Sample) => JSON.stringify({ ...labels, le: undefined });
  for (const samples of Map.groupBy(family.samples, ofOne).values()) checkBuckets(name, samples);
}

function checkBuckets(name: string, samples: readonly Sample[]): void {
  const buckets = samples.filter((sample) => sample.name === `${name}_bucket`);
  const bounds = buckets.map(({ labels }) =>
    labels["le"] === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels["le"]),
  );
  const ascending = (list: readonly number[], strictly: boolean) =>
    list.every((value, i) => i === 0 || (strictly ? value > Number(list[i - 1]) : value >= Number(list[i - 1])));
  const counts = buckets.map(({ value }) => value);
  const count = samples.find((sample) => sample.name === `${name}_count`)?.value;
  const sum = samples.find((sample) => sample.name === `${name}_sum`);
  if (!ascending(bounds, true) || !ascending(counts, false)) throw new Error(`${name}: buckets do not ascend`);
  if (bounds.at(-1) !== Number.POSITIVE_INFINITY || counts.at(-1) !== count || !sum) {
    throw new Error(`${name}: no infinite bucket that equals the count, or no sum`);
  }
}
