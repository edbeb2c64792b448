// Chrome's trace event format, as text: what chrome://tracing and Perfetto open. Times go in as milliseconds.

/** A line of the viewer. */
export interface Track {
  /** Process number: the tracks of one process stand together. */
  readonly process: number;
  readonly thread: number;
}

type TraceArguments = Readonly<Record<string, string | number | boolean>>;

const event = (phase: string, name: string, { process: pid, thread: tid }: Track, ts: number, rest: object) =>
  JSON.stringify({ ph: phase, name, pid, tid, ts, ...rest });

const micros = (ms: number): number => Math.round(ms * 1000);
const withArguments = (args: TraceArguments | undefined) => args && { args };

/** Something that lasted. Slices of one track may lie in each other, but must not overlap otherwise. */
export function slice(track: Track, name: string, from: number, to: number, args?: TraceArguments): string {
  const start = micros(from);
  return event("X", name, track, start, { dur: micros(to) - start, ...withArguments(args) });
}

/** Something that lasts until `end`; what is begun later on its track lies in it. */
export const begin = (track: Track, name: string, at: number, args?: TraceArguments): string =>
  event("B", name, track, micros(at), { ...withArguments(args) });

/** Ends what was begun last on the track. */
export const end = (track: Track, name: string, at: number, args?: TraceArguments): string =>
  event("E", name, track, micros(at), { ...withArguments(args) });

/** A stacked graph of numbers. */
export const counter = (track: Track, name: string, at: number, values: Readonly<Record<string, number>>): string =>
  event("C", name, track, micros(at), { args: values });

/** Gives a process, or a track, its name. */
export const processName = (track: Track, name: string): string =>
  event("M", "process_name", track, 0, { args: { name } });
export const trackName = (track: Track, name: string): string =>
  event("M", "thread_name", track, 0, { args: { name } });
