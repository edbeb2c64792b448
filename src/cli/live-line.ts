// Shows the server's current work as one line below the log, updated in place: the progress of the longest prompt, else
// the rate at which tokens are generated.

import type { RequestRecord } from "../domain/request-record.ts";
import { ProgressLine, type Measure, type ProgressOptions } from "./progress-line.ts";

const LOOK_MS = 200;
/** Milliseconds a request must run to be shown; the log soon reports shorter ones. */
const PATIENCE_MS = 400;

const tokens = (count: number) => count.toLocaleString("en-US");
/** Formats tokens. */
export const TOKENS: Measure = {
  amount: (done: number, total: number | undefined) =>
    total === undefined ? `${tokens(done)} tokens` : `${tokens(done)} of ${tokens(total)} tokens`,
  rate: (speed: number) => `${speed.toFixed(speed < 100 ? 1 : 0)} tok/s`,
};

interface LiveLineOptions {
  /** The requests that have not ended, in order of admission. */
  readonly live: () => readonly RequestRecord[];
  readonly output: Pick<ProgressOptions, "out" | "format">;
  readonly now?: () => number;
}

export class LiveLine {
  private readonly line: ProgressLine;
  private shown = "";
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly options: LiveLineOptions) {
    const { output, now } = options;
    this.line = new ProgressLine({ ...output, measure: TOKENS, ...(now && { now }) });
  }

  /** Redraws the line until `stop` is called. */
  start(): void {
    this.timer = setInterval(() => this.draw(), LOOK_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.line.end();
  }

  draw(): void {
    const live = this.options.live().filter(({ kind, ms }) => kind === "text" && ms >= PATIENCE_MS);
    const prompt = longest(live.filter(isPrefilling));
    const generating = live.filter(({ completionTokens }) => completionTokens > 0);
    const [first] = generating;
    const subject = prompt?.id ?? generating.map(({ id }) => id).join(" ");
    // The rate starts again for another prompt or other streams: an average over both would describe neither.
    if (subject !== this.shown) this.line.begin();
    this.shown = subject;
    if (prompt) {
      const { model, processedTokens: done = 0, promptTokens: total } = prompt;
      this.line.show({ name: `prefill ${model}`, done, total, remark: besides(live, prompt) });
    } else if (first) {
      const done = generating.reduce((sum, { completionTokens }) => sum + completionTokens, 0);
      const models = new Set(generating.map(({ model }) => model));
      const name = `generating ${models.size === 1 ? first.model : `with ${models.size} models`}`;
      this.line.show({ name, done, remark: generating.length > 1 ? `${generating.length} requests` : "" });
    }
  }
}

const isPrefilling = ({ completionTokens, processedTokens, state }: RequestRecord): boolean =>
  state === "running" && completionTokens === 0 && processedTokens !== undefined;

/** Returns the prompt with the most tokens left to compute. */
function longest(prompts: readonly RequestRecord[]): RequestRecord | undefined {
  const left = ({ promptTokens, processedTokens = 0 }: RequestRecord) => promptTokens - processedTokens;
  return prompts.toSorted((one, other) => left(other) - left(one))[0];
}

/** Summarizes the other requests: `2 generating, 1 waiting`. */
function besides(live: readonly RequestRecord[], shown: RequestRecord): string {
  const others = live.filter((one) => one !== shown);
  const counts = {
    "in prefill": others.filter(isPrefilling).length,
    generating: others.filter(({ completionTokens }) => completionTokens > 0).length,
    waiting: others.filter(({ state }) => state === "waiting").length,
  };
  return Object.entries(counts)
    .flatMap(([what, count]) => (count > 0 ? `${count} ${what}` : []))
    .join(", ");
}
