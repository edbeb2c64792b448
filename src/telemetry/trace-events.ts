// Writes Chrome's trace event format, which chrome://tracing and Perfetto read. Functions take times in milliseconds.

/** A row in the trace viewer. */
export interface Track {
  /** Process number: the viewer groups the tracks of a process. */
  readonly process: number;
  readonly thread: number;
}

type TraceArguments = Readonly<Record<string, string | number | boolean>>;

const event = (phase: string, name: string, { process: pid, thread: tid }: Track, ts: number, rest: object) =>
  JSON.stringify({ ph: phase, name, pid, tid, ts, ...rest });

const micros = (ms: number): number => Math.round(ms * 1000);

/** Returns a slice, an event with a duration. Slices of one track may be nested, but must not overlap otherwise. */
export function slice(track: Track, name: string, from: number, to: number, args?: TraceArguments): string {
  const start = micros(from);
  return event("X", name, track, start, { dur: micros(to) - start, args });
}

/** Returns the start of a slice that lasts until `end`; slices begun later on the track are nested in it. */
export const begin = (track: Track, name: string, at: number, args?: TraceArguments): string =>
  event("B", name, track, micros(at), { args });

/** Returns the end of the slice that was begun last on the track. */
export const end = (track: Track, name: string, at: number, args?: TraceArguments): string =>
  event("E", name, track, micros(at), { args });

/** Returns a point of a stacked graph of numbers. */
export const counter = (track: Track, name: string, at: number, values: Readonly<Record<string, number>>): string =>
  event("C", name, track, micros(at), { args: values });

/** Return an event that names a process, or a track. */
export const processName = (track: Track, name: string): string =>
  event("M", "process_name", track, 0, { args: { name } });
export const trackName = (track: Track, name: string): string =>
  event("M", "thread_name", track, 0, { args: { name } });
