// A download, made visible: a bar that is redrawn on a terminal, a line now and then elsewhere.

import { createLogger } from "../telemetry/log.ts";
import type { DownloadProgress as Progress } from "../domain/download.ts";

const REDRAW_MS = 100;
const LINE_MS = 10_000;
const BAR = 24;
const DEFAULT_COLUMNS = 80;
/** The rate is that of the last seconds. */
const RATE_MS = 5000;

export class DownloadProgress {
  private samples: { readonly at: number; readonly received: number }[] = [];
  private shownAt = -Infinity;
  private drawn = false;

  constructor(
    private readonly out: Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns">,
    private readonly format: "text" | "json",
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Shows where a download is, unless it was shown just before. */
  show(state: Progress): void {
    const at = this.now();
    this.sample(at, state.received);
    const isBar = this.out.isTTY && this.format === "text";
    if (at - this.shownAt < (isBar ? REDRAW_MS : LINE_MS)) return;
    this.shownAt = at;
    const parts = [amount(state), this.rate(), this.left(state), state.waiting ? "another svc downloads it" : ""];
    const text = parts.filter((part) => part !== "").join("  ");
    if (isBar) {
      this.out.write(`\x1b[K${fitting(`  ${state.name}`, bar(state), text, this.out.columns || DEFAULT_COLUMNS)}\r`);
      this.drawn = true;
    } else this.line(`${state.name}: ${text}`);
  }

  /** One line that stays. */
  note(text: string): void {
    this.end();
    this.line(text);
  }

  /** Removes the bar. */
  end(): void {
    if (this.drawn) this.out.write("\x1b[K");
    this.drawn = false;
  }

  private line(text: string): void {
    if (this.format === "text") this.out.write(`${text}\n`);
    else {
      const write = (line: string) => void this.out.write(line);
      createLogger({ level: "info", format: "json", write, now: Date.now }).info(text);
    }
  }

  private sample(at: number, received: number): void {
    if (at - (this.samples.at(-1)?.at ?? -Infinity) < REDRAW_MS) return;
    this.samples.push({ at, received });
    while (this.samples.length > 2 && at - (this.samples[0]?.at ?? at) > RATE_MS) this.samples.shift();
  }

  /** Bytes a second. */
  private get speed(): number {
    const [first, last] = [this.samples[0], this.samples.at(-1)];
    if (!first || !last || last.at === first.at) return 0;
    return Math.max(0, (1000 * (last.received - first.received)) / (last.at - first.at));
  }

  private rate(): string {
    return this.speed > 0 ? `${(this.speed / 1e6).toFixed(1)} MB/s` : "";
  }

  private left({ received, total }: Progress): string {
    if (total === undefined || this.speed === 0) return "";
    const seconds = Math.ceil((total - received) / this.speed);
    return seconds < 60 ? `${seconds} s left` : `${Math.ceil(seconds / 60)} min left`;
  }
}

/** A line that wraps could not be drawn over: the bar goes first, then the end. */
function fitting(name: string, drawing: string, text: string, columns: number): string {
  const whole = `${name} ${drawing} ${text}`;
  return (whole.length < columns ? whole : `${name} ${text}`).slice(0, columns - 1);
}

function bar({ received, total }: Progress): string {
  if (total === undefined || total === 0) return "";
  const full = Math.min(BAR, Math.floor((BAR * received) / total));
  return `[${"#".repeat(full)}${".".repeat(BAR - full)}]`;
}

function amount({ received, total }: Progress): string {
  if (total === undefined) return gigabytes(received);
  const percent = total === 0 ? 100 : Math.floor((100 * received) / total);
  return `${percent} %  ${gigabytes(received)} of ${gigabytes(total)}`;
}

/** Bytes as people read them. */
export function gigabytes(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(2)} GB`;
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${bytes} bytes`;
}
