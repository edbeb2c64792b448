// Parses the parts of `/metrics` that tests need.

/** Gauges that are all zero when the server is idle. */
export interface Levels {
  readonly running: number;
  readonly waiting: number;
  readonly kvUsage: number;
  readonly registered: number;
}

/** Sums all samples of a metric over its labels. Throws when there are none: a renamed metric is not 0. */
export function metricValue(exposition: string, name: string): number {
  const samples = exposition.split("\n").flatMap((line) => {
    const match = /^([a-z_:][\w:]*)(\{[^}]*\})? (\S+)/i.exec(line);
    return match?.[1] === name ? [Number(match[3])] : [];
  });
  if (samples.length === 0) throw new Error(`no metric is called ${name}`);
  return samples.reduce((sum, value) => sum + value, 0);
}

/** Returns the gauges of one scrape. */
export const readLevels = (exposition: string): Levels => ({
  running: metricValue(exposition, "svc_num_requests_running"),
  waiting: metricValue(exposition, "svc_num_requests_waiting"),
  kvUsage: metricValue(exposition, "svc_kv_cache_usage_perc"),
  registered: metricValue(exposition, "svc_cancel_registry_entries"),
});

/** Returns whether nothing runs, waits, holds cells or can be cancelled. */
export const isIdle = (levels: Levels): boolean => Object.values(levels).every((level) => level === 0);
