// Shows the progress of work that the user waits for: a bar redrawn in place on a terminal, occasional lines elsewhere.

import type { Config } from "../config/config.ts";
import { createLogger } from "../telemetry/log.ts";
import { CLEAR_LINE, progressOutput } from "./terminal.ts";

const REDRAW_MS = 100;
const LINE_MS = 10_000;
const BAR = 24;
const DEFAULT_COLUMNS = 80;
/** What stands before the name, and between the parts of the line. */
const [INDENT, GAP] = ["  ", " "];
/** Milliseconds over which the rate is averaged by default. */
const RATE_MS = 5000;
/** The same for work that takes seconds for each step: a page, a sentence, half a minute of sound. */
export const SLOW_RATE_MS = 60_000;
/** Milliseconds before the progress of a command appears where there is no bar; faster work needs no line. */
const PATIENCE_MS = 10_000;
/** Milliseconds between looks at work that does not report its progress. */
export const LOOK_MS = 100;

/** Formats what is counted. */
export interface Measure {
  readonly amount: (done: number, total: number | undefined) => string;
  /** `speed`: units per second. */
  readonly rate: (speed: number) => string;
}

interface ProgressState {
  readonly name: string;
  readonly done: number;
  readonly total?: number;
  /** Further information at the end of the line. */
  readonly remark?: string;
}

export interface ProgressOptions {
  readonly out: {
    readonly isTTY: boolean;
    readonly columns: number;
    readonly write: (text: string) => boolean;
  };
  readonly format: "text" | "json";
  readonly measure: Measure;
  /** Milliseconds before the first line, when there is no bar. */
  readonly patienceMs?: number;
  /** Milliseconds over which the rate is averaged; longer for work that advances in large steps. */
  readonly rateMs?: number;
  readonly now?: () => number;
}

export class ProgressLine {
  private samples: { readonly at: number; readonly done: number }[] = [];
  private shownAt: number;
  private drawn = false;
  private readonly now: () => number;

  constructor(private readonly options: ProgressOptions) {
    const { now = () => performance.now(), patienceMs = 0 } = options;
    this.now = now;
    this.shownAt = this.isBar || patienceMs === 0 ? -Infinity : now() + patienceMs - LINE_MS;
  }

  /** Shows the state, unless one was shown shortly before. */
  show(state: ProgressState): void {
    const at = this.now();
    this.sample(at, state.done);
    if (at - this.shownAt < (this.isBar ? REDRAW_MS : LINE_MS)) return;
    this.shownAt = at;
    const { out, measure } = this.options;
    const { name, done, total, remark = "" } = state;
    const rate = this.speed > 0 ? measure.rate(this.speed) : "";
    const parts = [percent(state) + measure.amount(done, total), rate, this.left(state), remark];
    const text = parts.filter((part) => part !== "").join("  ");
    if (this.isBar) {
      out.write(`${CLEAR_LINE}${fitting(name, bar(state), text, out.columns || DEFAULT_COLUMNS)}\r`);
      this.drawn = true;
    } else this.line(`${name}: ${text}`);
  }

  /** Prints one line that stays on the screen. */
  note(text: string): void {
    this.end();
    this.line(text);
  }

  /** Returns the result of `work`. Until it has ended, shows the state at once and then ten times a second. */
  async during<T>(state: () => ProgressState, work: () => Promise<T>): Promise<T> {
    const look = () => this.show(state());
    const timer = setInterval(look, LOOK_MS);
    try {
      look();
      return await work();
    } finally {
      clearInterval(timer);
      this.end();
    }
  }

  /** Removes the bar. */
  end(): void {
    if (this.drawn) this.options.out.write(CLEAR_LINE);
    this.drawn = false;
  }

  /** Starts other work, with a rate of its own. */
  begin(): void {
    this.end();
    this.samples = [];
  }

  private get isBar(): boolean {
    const { out, format } = this.options;
    return out.isTTY && format === "text";
  }

  private line(text: string): void {
    const { out, format } = this.options;
    if (format === "text") out.write(`${text}\n`);
    else {
      const write = (line: string) => void out.write(line);
      createLogger({ level: "info", format: "json", write, now: Date.now }).info(text);
    }
  }

  private sample(at: number, done: number): void {
    if (at - (this.samples.at(-1)?.at ?? -Infinity) < REDRAW_MS) return;
    this.samples.push({ at, done });
    const { rateMs = RATE_MS } = this.options;
    while (this.samples.length > 2 && at - (this.samples[0]?.at ?? at) > rateMs) this.samples.shift();
  }

  /** Units per second. */
  private get speed(): number {
    const [first, last] = [this.samples[0], this.samples.at(-1)];
    if (!first || !last || last.at === first.at) return 0;
    return Math.max(0, (1000 * (last.done - first.done)) / (last.at - first.at));
  }

  private left({ done, total }: ProgressState): string {
    if (total === undefined || this.speed === 0) return "";
    const seconds = Math.ceil((total - done) / this.speed);
    return seconds < 60 ? `${seconds} s left` : `${Math.ceil(seconds / 60)} min left`;
  }
}

/** Returns the line for a command's work. `rateMs`: as in ProgressOptions. */
export const commandProgress = (
  config: Pick<Config, "logFormat" | "logLevel">,
  measure: Measure,
  rateMs = RATE_MS,
): ProgressLine => new ProgressLine({ ...progressOutput(config), measure, patienceMs: PATIENCE_MS, rateMs });

/**
 * Fits the line into the columns, since a wrapped line cannot be redrawn: drops the bar first, then the beginning of the
 * name, then the end of the text.
 */
function fitting(name: string, drawing: string, text: string, columns: number): string {
  const room = columns - 1;
  const whole = INDENT + [name, drawing, text].join(GAP);
  if (Bun.stringWidth(whole) <= room) return whole;
  const forName = Math.max(leastForName(room), room - Bun.stringWidth(INDENT + GAP + text));
  // Of a path, its end tells it from others.
  const end = Bun.sliceAnsi(name, -forName, undefined, "…");
  return Bun.sliceAnsi(INDENT + end + GAP + text, 0, room);
}

/** Returns the columns that a long name keeps even if that hides the time left, but not the percentage. */
const leastForName = (room: number): number => Math.max(1, Math.floor(room / 3) - "50 %".length);

function bar({ done, total }: ProgressState): string {
  if (total === undefined || total === 0) return "";
  const full = Math.min(BAR, Math.floor((BAR * done) / total));
  return `[${"#".repeat(full)}${".".repeat(BAR - full)}]`;
}

function percent({ done, total }: ProgressState): string {
  if (total === undefined) return "";
  return `${total === 0 ? 100 : Math.floor((100 * done) / total)} %  `;
}
