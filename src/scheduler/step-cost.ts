// Learns what a step costs, so that prefill chunks can be sized in milliseconds instead of tokens.

const SMOOTHING = 0.25;
const blend = (old: number | undefined, sample: number) =>
  old === undefined ? sample : old + SMOOTHING * (sample - old);

/** Moving averages of measured steps, in milliseconds. */
export class StepCost {
  private decodeStep: number | undefined;
  /** Per prompt token, alone in the batch. */
  private prefillToken: number | undefined;
  /** Per prompt token on top of a decode step: dearer, because small chunks reuse the weights less. */
  private mixedToken: number | undefined;

  record(decodeRows: number, prefillRows: number, ms: number): void {
    if (prefillRows === 0) this.decodeStep = blend(this.decodeStep, ms);
    else if (decodeRows === 0) this.prefillToken = blend(this.prefillToken, ms / prefillRows);
    else this.mixedToken = blend(this.mixedToken, Math.max(0, ms - (this.decodeStep ?? 0)) / prefillRows);
  }

  /** What computing a prompt token costs, alone in the batch; undefined until anything was measured. */
  get prefillTokenMs(): number | undefined {
    return this.prefillToken ?? this.mixedToken;
  }

  /** What so many prompt tokens take by themselves. */
  prefillMs(tokens: number): number {
    return tokens * (this.prefillTokenMs ?? 1);
  }

  /** What a step of so many decoding rows costs: as measured, or at least what as many prompt tokens do. */
  decodeStepMs(rows: number): number {
    return Math.max(this.decodeStep ?? 0, rows * (this.prefillToken ?? 0));
  }

  /** Prompt tokens that fit `budgetMs`; `fallback` until anything was measured. */
  tokensWithin(budgetMs: number, besideDecode: boolean, fallback: number): number {
    const perToken = besideDecode ? (this.mixedToken ?? this.prefillToken) : (this.prefillToken ?? this.mixedToken);
    if (perToken === undefined) return fallback;
    return perToken <= 0 ? Number.MAX_SAFE_INTEGER : Math.floor(budgetMs / perToken);
  }
}
